"""Tags of records: predicted in batches, and written as they come."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from halfmax._core.limits import limits
from halfmax.cli.bar import Bar
from halfmax.cli.mesh_options import TAG_FORMATS
from halfmax.cli.streams import STANDARD, ending_of

if TYPE_CHECKING:
    from halfmax.mesh.model.tagger import Tag, Tagger
    from halfmax.mesh.records.corpus import Corpus

    Tagged = tuple[str, list[Tag]]  # the PMID of a record and its terms

_ENDINGS = (".jsonl", ".jsonl.gz", ".csv", ".csv.gz", ".parquet")
_DIGITS = 6  # digits of a score


class TagCounts(NamedTuple):
    """The number of records written, of their terms, and of records without terms."""

    records: int
    terms: int
    without: int


def check_tags_out(out: str, form: str | None, force: bool) -> str:
    """Refuse a file that cannot be written; return the ending of its name."""
    from halfmax._core.files import check_writable

    if out == STANDARD:
        if form not in (None, *TAG_FORMATS):
            raise ValueError(f"--format must be {' or '.join(TAG_FORMATS)}; got {form!r}")
        return TAG_FORMATS[form or "jsonl"]
    if form is not None:
        raise ValueError(
            "--format is for standard output; the name of a file determines its format"
        )
    ending = ending_of(out, _ENDINGS)
    check_writable(out, force)
    return ending


def check_choice(average: str, rule: str) -> str:
    """Refuse an unknown average or rule before records are read; return the average's name."""
    from halfmax.mesh.model.tagger import RULES
    from halfmax.metrics.average import check_average_without_truth

    if rule not in RULES:
        raise ValueError(f"--rule must be {' or '.join(RULES)}; got {rule!r}")
    return check_average_without_truth(average, one_classifier=False)


def predict(
    tagger: "Tagger", corpus: "Corpus", average: str, rule: str, bar: Bar
) -> Iterator["Tagged"]:
    """Yield the terms of every record, by batches if the rule does not need all records."""
    from halfmax._core.progress import Progress

    if rule == "auto":
        records = corpus.records()
        with Progress(bar, "tagging", len(corpus)) as progress:
            while some := list(islice(records, limits.tag_records_read)):
                outputs = tagger.outputs(tagger.factors(record.text for record in some))
                tags = tagger.tags(outputs, tagger.rule(outputs, average), progress)
                yield from zip((record.pmid for record in some), tags, strict=True)
        return
    with Progress(bar, "reading texts", len(corpus)) as progress:
        outputs = tagger.outputs(tagger.factors(corpus.texts(), progress))
    chosen = tagger.rule(outputs, average, rule, bar)
    with Progress(bar, "tagging", len(corpus)) as progress:
        yield from zip(corpus.pmids, tagger.tags(outputs, chosen, progress), strict=True)


def write_tags(tagged: Iterator["Tagged"], path: str) -> TagCounts:
    """Write the terms of records as they come."""
    records = terms = without = 0
    with _tag_file(path) as write:
        while some := list(islice(tagged, limits.tag_records_written)):
            write(some)
            records += len(some)
            terms += sum(len(tags) for _, tags in some)
            without += sum(not tags for _, tags in some)
    return TagCounts(records, terms, without)


@contextmanager
def _tag_file(path: str) -> Iterator[Callable[[list["Tagged"]], object]]:
    from halfmax._core.files import whole_file
    from halfmax.tables.arrow import pa
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
