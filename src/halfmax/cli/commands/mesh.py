"""``halfmax mesh``: tag MEDLINE records with MeSH terms, the paper's case study."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from halfmax.cli import mesh_options as m
from halfmax.cli import options as o
from halfmax.cli.bar import Bar
from halfmax.cli.outcome import refuse_two_outputs, report
from halfmax.cli.own_input import refuse_own_input
from halfmax.cli.run import Run, running
from halfmax.cli.staging import staged
from halfmax.cli.streams import STANDARD, ending_of, incoming, outgoing, refuse_one_file
from halfmax.cli.tagging import check_choice, check_tags_out, predict, write_tags
from halfmax.cli.usage import Command, Group

if TYPE_CHECKING:
    from halfmax.mesh.model.settings import Settings
    from halfmax.mesh.model.tagger import Tagger
    from halfmax.mesh.records.corpus import Corpus
    from halfmax.mesh.records.generator import Recipe
    from halfmax.mesh.stages import Stage

app = typer.Typer(
    cls=Group,
    invoke_without_command=True,
    help="Tag MEDLINE records with MeSH terms: the paper's case study.",
)

_RECORD_ENDINGS = (".xml", ".xml.gz", ".jsonl", ".jsonl.gz")


class Fitted(NamedTuple):
    """A tagger, the records and settings it was fitted with, and what that took."""

    corpus: "Corpus"
    tagger: "Tagger"
    settings: "Settings"
    stages: "list[Stage]"
    bytes: int
    seconds: float


class Generated(NamedTuple):
    """The recipe of generated records, and the file of those to evaluate on."""

    recipe: "Recipe"
    test_out: str | None


@app.callback(
    epilog="Example: halfmax mesh generate --out records.xml.gz generates records to try."
)
def _mesh(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


@app.command(cls=Command, epilog="Example: halfmax mesh fit medline/ --out tagger.model")
def fit(
    data: m.Data,
    out: m.ModelOut,
    rank: m.Rank = None,
    penalty: m.Penalty = "shared",
    min_count: m.MinCount = 1,
    max_words: m.MaxWords = 188_923,
    seed: m.Seed = 0,
    work: m.Work = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Learn to tag records from records that have MeSH terms."""
    with running(quiet, debug) as run:
        from halfmax._core.files import check_writable
        from halfmax.mesh.model.settings import Settings

        settings = Settings(rank, _read_penalty(penalty), min_count, max_words, seed)
        if STANDARD in (out, *data):
            raise ValueError("- cannot stand for a file here: fit reads and writes files only")
        check_writable(out, force)
        refuse_own_input({"--out": out}, data, records=True)
        started = time.perf_counter()
        with (
            run.working("fit: reading") as bar,
            staged(Path(work or f"{out}.work"), run, bar, keep=work is not None) as stages,
        ):
            from halfmax.mesh.model.fit import fit_tagger, gather_records

            corpus = gather_records(data, stages, bar)
            tagger = fit_tagger(corpus, settings, stages, bar)
            tagger.save(out, overwrite=force)
        found = Fitted(
            corpus,
            tagger,
            settings,
            stages.done,
            bytes=Path(out).stat().st_size,
            seconds=time.perf_counter() - started,
        )
        report("mesh fit", found, run, as_json, out)


@app.command(cls=Command, epilog="Example: halfmax mesh tag tagger.model new.xml.gz --out tags.csv")
def tag(
    model: m.Model,
    files: m.Files,
    average: o.PlainAverage = "micro",
    rule: m.Rule = "auto",
    out: m.TagsOut = STANDARD,
    form: m.Format = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Predict the MeSH terms of records."""
    with running(quiet, debug) as run:
        refuse_two_outputs(out, as_json)
        ending = check_tags_out(out, form, force)
        refuse_own_input({"--out": out}, [model, *files], records=True)
        average = check_choice(average, rule)
        from halfmax.mesh.model.tagger import Tagger

        tagger = Tagger.load(model)
        with (
            outgoing(out, ending, force, run) as path,
            run.working("tag: reading") as bar,
            _gathered(files, run, bar) as corpus,
        ):
            written = write_tags(predict(tagger, corpus, average, rule, bar), path)
        report("mesh tag", written, run, as_json, out)


@app.command(cls=Command, epilog="Example: halfmax mesh evaluate tagger.model test.xml.gz")
def evaluate(
    model: m.Model,
    files: m.Files,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Compare the rules on records with MeSH terms that fit has not seen."""
    with running(quiet, debug) as run:
        from halfmax.mesh.model.tagger import Tagger
        from halfmax.mesh.rules.evaluate import evaluate

        tagger = Tagger.load(model)
        with run.working("evaluate: reading") as bar, _gathered(files, run, bar) as corpus:
            found = evaluate(tagger, corpus, bar)
            _warn_of_seen(found.n_seen, found.n_documents)
        report("mesh evaluate", found, run, as_json)


@app.command(
    cls=Command,
    epilog="Example: halfmax mesh generate --out records.xml.gz --test-out test.xml.gz",
)
def generate(
    out: m.RecordsOut,
    test_out: m.TestOut = None,
    records: m.Records = 1000,
    test_records: m.TestRecords = None,
    terms: m.Terms = None,
    words: m.Words = None,
    seed: m.RecordsSeed = 0,
    force: o.Force = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Generate records of invented words, to try the other commands on."""
    with running(quiet, debug) as run:
        from halfmax.mesh.records.generator import Recipe

        n_test = _check_test(out, test_out, records, test_records)
        n_terms = max(1, records // 2) if terms is None else terms
        n_words = max(1, 5 * records) if words is None else words
        recipe = Recipe(records, n_test, n_terms, n_words, seed)
        files = [out] if test_out is None else [out, test_out]
        with run.working("generating records") as bar, ExitStack() as stack:
            paths = [
                stack.enter_context(outgoing(file, ending_of(file, _RECORD_ENDINGS), force, run))
                for file in files
            ]
            _write_records(recipe, paths, bar)
        report("mesh generate", Generated(recipe, test_out), run, as_json, out, files[1:])


def _read_penalty(text: str) -> str | float:
    with suppress(ValueError):
        return float(text)
    return text


@contextmanager
def _gathered(files: list[str], run: Run, bar: Bar) -> Iterator["Corpus"]:
    from halfmax.mesh.records.corpus import gather

    prefix = "halfmax."
    with incoming(files, run) as paths, tempfile.TemporaryDirectory(prefix=prefix) as folder:
        yield gather(paths, Path(folder, "records"), bar)


def _warn_of_seen(n_seen: int, n_documents: int) -> None:
    from halfmax._core.errors import warn

    if n_seen:
        warn(
            f"{n_seen:,} of {n_documents:,} records are among those that the tagger learned from, "
            "so their scores are too good; evaluate on others"
        )


def _check_test(out: str, test_out: str | None, records: int, test_records: int | None) -> int:
    """Return the number of records in --test-out."""
    from halfmax._core.gate.options import check_whole

    if test_out is None:
        if test_records is not None:
            raise ValueError("--test-records is for --test-out, which names their file")
        return 0
    refuse_one_file("--out", out, "--test-out", test_out)
    return max(1, records // 5) if test_records is None else check_whole("n_test", test_records, 1)


def _write_records(recipe: "Recipe", paths: list[str], bar: Bar) -> None:
    """Write the records to fit on to the first path, those to evaluate on to the second."""
    from halfmax._core.progress import Progress, counted
    from halfmax.mesh.records.generator import generate
    from halfmax.mesh.records.writing import write_records

    with Progress(bar, "generating records", recipe.n_train + recipe.n_test) as progress:
        records = counted(generate(recipe), progress)
        write_records(islice(records, recipe.n_train), paths[0])
        for path in paths[1:]:
            write_records(records, path)
