"""``halfmax mesh``: MEDLINE records tagged with MeSH terms, the paper's case study."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from halfmax.cli import options as o
from halfmax.cli.bar import Bar
from halfmax.cli.commands.staging import staged
from halfmax.cli.commands.tagging import FORMATS, check_choice, check_tags_out, predict, write_tags
from halfmax.cli.outcome import refuse_two_outputs, report
from halfmax.cli.own_input import refuse_own_input
from halfmax.cli.run import Command, Group, Run, running
from halfmax.cli.streams import STANDARD, ending_of, incoming, outgoing, refuse_one_file

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

_TAG_FILES = (
    ".jsonl, a line for each record; .csv or .parquet, a row for each term of a record; .jsonl.gz "
    "or .csv.gz"
)
_RECORD_ENDINGS = (".xml", ".xml.gz", ".jsonl", ".jsonl.gz")
_LEARNING, _OUTPUT = "What is learned", "Output"


class Fitted(NamedTuple):
    """A tagger that was written, what it was fitted to and how."""

    corpus: "Corpus"
    tagger: "Tagger"
    settings: "Settings"
    stages: "list[Stage]"
    bytes: int
    seconds: float


class Generated(NamedTuple):
    """Records that were made up, and where those to evaluate on are."""

    recipe: "Recipe"
    test_out: str | None


def _option(name: str, words: str, panel: str | None, metavar: str = "N", **more: Any) -> Any:
    return typer.Option(name, help=words, rich_help_panel=panel, metavar=metavar, **more)


def _name(name: str, words: str, panel: str, among: Sequence[str]) -> Any:
    def complete(incomplete: str) -> list[str]:
        return [one for one in among if one.startswith(incomplete)]

    return _option(name, words, panel, "NAME", autocompletion=complete)


def _files(metavar: str, more: str = "") -> Any:
    words = f"Files, folders or globs of PubMed's XML or JSON lines, packed by gzip or not{more}."
    return typer.Argument(metavar=metavar, help=words, show_default=False)


def _out(words: str, metavar: str = "FILE", name: str = "--out") -> Any:
    return _option(name, words, _OUTPUT, metavar, show_default=False)


Data = Annotated[list[str], _files("DATA")]
Files = Annotated[list[str], _files("FILES", "; - is standard input")]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="What fit wrote.", show_default=False)]
ModelOut = Annotated[str, _out("The file to write the tagger to.", "MODEL")]
TagsOut = Annotated[str, _out(f"The file to write: {_TAG_FILES}. If not given, standard output.")]
RecordsOut = Annotated[str, _out("The file to write: .xml, .xml.gz, .jsonl or .jsonl.gz.")]
Rank = Annotated[
    int | None, _option("--rank", "Dimensions of the words; 200 if not given.", _LEARNING)
]
_PENALTY = "Of the ridge: shared by all terms, per-label, or a number above 0."
Penalty = Annotated[str, _name("--penalty", _PENALTY, _LEARNING, ("shared", "per-label"))]
MinCount = Annotated[int, _option("--min-count", "Leave out terms of fewer records.", _LEARNING)]
MaxWords = Annotated[int, _option("--max-words", "Use so many words at most.", _LEARNING)]
_SEED = "The same seed gives the same answer."
Seed = Annotated[int, _option("--seed", _SEED, _LEARNING)]
_WORK = "Keep finished stages here. If not given: beside MODEL, until all is done."
Work = Annotated[str | None, _option("--work", _WORK, _OUTPUT, "FOLDER")]
_RULE = "auto, thresholds learned by fit; plug-in, the paper's: half of the F1 to be expected."
Rule = Annotated[str, _name("--rule", _RULE, "What is maximised", ("auto", "plug-in"))]
_FORM = "Of standard output: jsonl (if not given) or csv."
Format = Annotated[str | None, _name("--format", _FORM, _OUTPUT, tuple(FORMATS))]
RecordsSeed = Annotated[int, _option("--seed", _SEED, None)]
Records = Annotated[int, _option("--records", "How many records to make up.", None)]
_TEST_OUT = "Another file, of records of the same terms: fit on the first, evaluate on this."
TestOut = Annotated[str | None, _out(_TEST_OUT, name="--test-out")]
_TEST_RECORDS = "How many go into --test-out; a fifth of --records if not given."
TestRecords = Annotated[int | None, _option("--test-records", _TEST_RECORDS, None)]
Terms = Annotated[int | None, _option("--terms", "Half of --records if not given.", None)]
Words = Annotated[int | None, _option("--words", "Five times --records if not given.", None)]


@app.callback(
    epilog="Example: halfmax mesh generate --out records.xml.gz --test-out test.xml.gz makes "
    "records to try the others on."
)
def _mesh(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


@app.command(cls=Command, epilog="Example: halfmax mesh fit medline/ --out tagger.model")
def fit(
    data: Data,
    out: ModelOut,
    rank: Rank = None,
    penalty: Penalty = "shared",
    min_count: MinCount = 1,
    max_words: MaxWords = 188_923,
    seed: Seed = 0,
    work: Work = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Learn from records with MeSH terms how to tag others."""
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
        spent = Path(out).stat().st_size, time.perf_counter() - started
        report("mesh fit", Fitted(corpus, tagger, settings, stages.done, *spent), run, as_json, out)


@app.command(cls=Command, epilog="Example: halfmax mesh tag tagger.model new.xml.gz --out tags.csv")
def tag(
    model: Model,
    files: Files,
    average: o.Average = "micro",
    rule: Rule = "auto",
    out: TagsOut = STANDARD,
    form: Format = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Predict the MeSH terms of records, whether they have some or not."""
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
    model: Model,
    files: Files,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Compare the rules on records that have MeSH terms and that fit has not seen."""
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
    epilog="Example: halfmax mesh generate --out records.xml.gz --test-out test.xml.gz "
    "--records 5000",
)
def generate(
    out: RecordsOut,
    test_out: TestOut = None,
    records: Records = 1000,
    test_records: TestRecords = None,
    terms: Terms = None,
    words: Words = None,
    seed: RecordsSeed = 0,
    force: o.Force = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Make up records in words that nobody speaks, to try the other commands on."""
    with running(quiet, debug) as run:
        from halfmax.mesh.records.generator import Recipe

        n_test = _check_test(out, test_out, records, test_records)
        n_terms = max(1, records // 2) if terms is None else terms
        n_words = max(1, 5 * records) if words is None else words
        recipe = Recipe(records, n_test, n_terms, n_words, seed)
        files = [out] if test_out is None else [out, test_out]
        with run.working("making records") as bar, ExitStack() as stack:
            paths = [
                stack.enter_context(outgoing(file, ending_of(file, _RECORD_ENDINGS), force, run))
                for file in files
            ]
            _make_records(recipe, paths, bar)
        report("mesh generate", Generated(recipe, test_out), run, as_json, out, files[1:])


def _read_penalty(given: str) -> str | float:
    with suppress(ValueError):
        return float(given)
    return given


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
            f"{n_seen:,} of {n_documents:,} records were among those that the tagger learned from: "
            "what they show is too good; evaluate on others"
        )


def _check_test(out: str, test_out: str | None, records: int, test_records: int | None) -> int:
    """How many records go into the other file."""
    from halfmax._core.checks import check_whole

    if test_out is None:
        if test_records is not None:
            raise ValueError("--test-records is for --test-out, which names their file")
        return 0
    refuse_one_file("--out", out, "--test-out", test_out)
    return max(1, records // 5) if test_records is None else check_whole("n_test", test_records, 1)


def _make_records(recipe: "Recipe", paths: list[str], bar: Bar) -> None:
    """Write the records to learn from to the first path, and the others to the second."""
    from halfmax._core.progress import Progress, counted
    from halfmax.mesh.records.generator import generate
    from halfmax.mesh.records.writing import write_records

    with Progress(bar, "making records", recipe.n_train + recipe.n_test) as told:
        made = counted(generate(recipe), told)
        write_records(islice(made, recipe.n_train), paths[0])
        for path in paths[1:]:
            write_records(made, path)
