"""Tags of records: predicted some at a time, and written as they come."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from halfmax.cli.bar import Bar
from halfmax.cli.streams import STANDARD, ending_of

if TYPE_CHECKING:
    from halfmax.mesh.model.tagger import Tag, Tagger
    from halfmax.mesh.records.corpus import Corpus

    Tagged = tuple[str, list[Tag]]  # the PMID of a record and its terms

FORMATS = {"jsonl": ".jsonl", "csv": ".csv"}  # of standard output
_ENDINGS = (".jsonl", ".jsonl.gz", ".csv", ".csv.gz", ".parquet")
_READ_AT_ONCE = 4096  # records
_WRITTEN_AT_ONCE = 128  # under a rule that floods each can have thousands of terms
_DIGITS = 6  # of a score


class Written(NamedTuple):
    """How many records were written, with how many terms, and how many have none."""

    records: int
    terms: int
    without: int


def check_tags_out(out: str, form: str | None, force: bool) -> str:
    """Refuse what cannot be written; gives the ending of the file's name."""
    from halfmax._core.files import check_writable

    if out == STANDARD:
        if form not in (None, *FORMATS):
            raise ValueError(f"--format must be {' or '.join(FORMATS)}; got {form!r}")
        return FORMATS[form or "jsonl"]
    if form is not None:
        raise ValueError("--format is for standard output; of a file its name tells the format")
    ending = ending_of(out, _ENDINGS)
    check_writable(out, force)
    return ending


def check_choice(average: str, rule: str) -> str:
    """Refuse what the tagger does not know, before records are read; gives the average's name."""
    from halfmax.mesh.model.tagger import RULES
    from halfmax.metrics.average import check_average

    if rule not in RULES:
        raise ValueError(f"--rule must be {' or '.join(RULES)}; got {rule!r}")
    return check_average(average, one_classifier=False)


def predict(
    tagger: "Tagger", corpus: "Corpus", average: str, rule: str, bar: Bar
) -> Iterator["Tagged"]:
    """The terms of every record; a rule that does not look at all of them takes some at once."""
    from halfmax._core.progress import Progress

    if rule == "auto":
        records = corpus.records()
        with Progress(bar, "tagging", len(corpus)) as told:
            while some := list(islice(records, _READ_AT_ONCE)):
                outputs = tagger.outputs(tagger.factors(record.text for record in some))
                tags = tagger.tags(outputs, tagger.rule(outputs, average), told)
                yield from zip((record.pmid for record in some), tags, strict=True)
        return
    with Progress(bar, "reading texts", len(corpus)) as told:
        outputs = tagger.outputs(tagger.factors(corpus.texts(), told))
    chosen = tagger.rule(outputs, average, rule, bar)
    with Progress(bar, "tagging", len(corpus)) as told:
        yield from zip(corpus.pmids, tagger.tags(outputs, chosen, told), strict=True)


def write_tags(tagged: Iterator["Tagged"], path: str) -> Written:
    """Write the terms of records as they come."""
    records = terms = without = 0
    with _tag_file(path) as write:
        while some := list(islice(tagged, _WRITTEN_AT_ONCE)):
            write(some)
            records += len(some)
            terms += sum(len(tags) for _, tags in some)
            without += sum(not tags for _, tags in some)
    return Written(records, terms, without)


@contextmanager
def _tag_file(path: str) -> Iterator[Callable[[list["Tagged"]], object]]:
    import pyarrow as pa

    from halfmax._core.files import whole_file
    from halfmax.tables.files import compression_of
    from halfmax.tables.writing import table_file

    if path.endswith((".jsonl", ".jsonl.gz")):
        packed = compression_of(path)
        with whole_file(path) as draft, pa.output_stream(str(draft), compression=packed) as file:
            yield lambda some: file.write("".join(map(_json_line, some)).encode())
        return
    schema = pa.schema([("pmid", pa.string()), ("term", pa.string()), ("score", pa.float64())])
    with table_file(path, schema, overwrite=True) as writer:
        yield lambda some: writer.write_batch(pa.record_batch(_columns(some), schema=schema))


def _json_line(tagged: "Tagged") -> str:
    pmid, tags = tagged
    scores = [round(tag.score, _DIGITS) for tag in tags]
    row = {"pmid": pmid, "mesh": [tag.term for tag in tags], "scores": scores}
    return json.dumps(row, ensure_ascii=False) + "\n"


def _columns(some: list["Tagged"]) -> list[list[Any]]:
    rows = [(pmid, tag.term, round(tag.score, _DIGITS)) for pmid, tags in some for tag in tags]
    return [[row[place] for row in rows] for place in range(3)]
