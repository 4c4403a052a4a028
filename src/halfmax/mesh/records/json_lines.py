"""Parse records that are JSON lines, one object per line."""

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from halfmax.mesh.records.record import MOST_TEXT, BadRecordError, Record, tidy

EXPECTED = (
    'one JSON object per line, as {"pmid": 1, "title": "...", "abstract": "...", "mesh": ["..."]}'
)
_BOM = b"\xef\xbb\xbf"
_KINDS = {
    bool: "true or false",
    dict: "an object",
    float: "a number with a fraction",
    int: "a number",
    list: "a list",
    str: "a string",
    type(None): "null",
}


def parse(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield the records of a file of JSON lines, in its order; `name` is for errors."""
    number = 0
    while line := stream.readline(MOST_TEXT + 1):
        number += 1
        if number == 1:
            line = line.removeprefix(_BOM)
        if not line.strip():
            continue
        try:
            record = _read(line)
        except BadRecordError as error:
            raise ValueError(f"{name}, line {number}: {error}") from None
        yield record


def _read(line: bytes) -> Record:
    row = _decode(line)
    if not isinstance(row, dict):
        raise BadRecordError(f"there must be {EXPECTED}; got {_kind(row)}")
    title, abstract = _text(row, "title"), _text(row, "abstract")
    record = Record(_pmid(row), title, abstract, _mesh(row))
    if b"\\u" in line:
        _check_surrogates(record)
    return record


def _decode(line: bytes) -> Any:
    if len(line) > MOST_TEXT:
        raise BadRecordError(f"a line must be shorter than {MOST_TEXT:,} bytes; write {EXPECTED}")
    try:
        return json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        wrong = line[error.start : error.start + 4]
        raise BadRecordError(f"it must be UTF-8; byte {error.start + 1} begins {wrong!r}") from None
    except json.JSONDecodeError as error:
        raise BadRecordError(
            f"there must be {EXPECTED}; the JSON is wrong at character {error.colno}: {error.msg}"
        ) from None
    except (ValueError, RecursionError) as error:  # a number of a million digits, nested lists
        raise BadRecordError(f"the JSON cannot be read: {error}") from None


def _pmid(row: dict[str, Any]) -> str:
    if "pmid" not in row:
        raise BadRecordError("there must be a 'pmid'; there is none")
    pmid = row["pmid"]
    if isinstance(pmid, bool) or not isinstance(pmid, int | str):
        raise BadRecordError(f"'pmid' must be a whole number or a string; got {_kind(pmid)}")
    text = str(pmid).strip()
    if not text or text.startswith("-"):
        raise BadRecordError(f"'pmid' must be positive or a non-empty string; got {pmid!r}")
    return text


def _text(row: dict[str, Any], key: str) -> str:
    text = row.get(key)
    if text is None:
        return ""
    if not isinstance(text, str):
        raise BadRecordError(f"{key!r} must be a string; got {_kind(text)}")
    return text


def _mesh(row: dict[str, Any]) -> tuple[str, ...]:
    terms = row.get("mesh")
    if terms is None:
        return ()
    if not isinstance(terms, list):
        raise BadRecordError(f"'mesh' must be a list of strings; got {_kind(terms)}")
    for place, term in enumerate(terms):
        if not isinstance(term, str):
            raise BadRecordError(f"'mesh' must be a list of strings; item {place} is {_kind(term)}")
        if not term.strip():
            raise BadRecordError(f"terms in 'mesh' must not be empty; item {place} is {term!r}")
    return tuple(dict.fromkeys(tidy(term) for term in terms))


def _check_surrogates(record: Record) -> None:
    texts = {"pmid": record.pmid, "title": record.title, "abstract": record.abstract}
    for key, text in [*texts.items(), *(("mesh", term) for term in record.mesh)]:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise BadRecordError(
                f"{key!r} must be text; it has half of a surrogate pair, {text[error.start]!a}"
            ) from None


def _kind(value: object) -> str:
    shown = f", {value!r:.40}" if isinstance(value, bool | int | float | str) else ""
    return _KINDS[type(value)] + shown
