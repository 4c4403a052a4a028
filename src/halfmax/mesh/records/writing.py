"""Write records to files that other programs can read: PubMed's XML or JSON lines."""

import gzip
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from hashlib import blake2b
from typing import BinaryIO, cast
from xml.sax.saxutils import escape, quoteattr

from halfmax._core.files import whole_file
from halfmax._core.text import spell_out
from halfmax.mesh.records.record import Record

_HEAD = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" \
"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">
<PubmedArticleSet>
"""
_TAIL = "</PubmedArticleSet>\n"

# Elements that NLM's definition of the format requires, but a record does not have, are empty.
_ARTICLE = """<PubmedArticle>
<MedlineCitation Status="MEDLINE" Owner="NLM">
<PMID Version="{version}">{pmid}</PMID>
<Article PubModel="Print">
<Journal><JournalIssue CitedMedium="Print"><PubDate><MedlineDate/></PubDate></JournalIssue>\
</Journal>
<ArticleTitle>{title}</ArticleTitle>
<Pagination><MedlinePgn/></Pagination>
{abstract}<Language>eng</Language>
<PublicationTypeList><PublicationType UI="D016428">Journal Article</PublicationType>\
</PublicationTypeList>
</Article>
<MedlineJournalInfo><MedlineTA/></MedlineJournalInfo>
{mesh}</MedlineCitation>
</PubmedArticle>
"""
_UNLABELLED = "UNLABELLED"  # NLM's label for parts without a label, which readers drop
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NO_UTF8 = re.compile("[\ud800-\udfff]")


def write_records(
    records: Iterable[Record], path: str | os.PathLike[str], overwrite: bool = True
) -> None:
    """Write records to a file, whole or not at all.

    Equal records give equal bytes. In XML a line of an abstract that begins with a label in
    capitals, as in ``"METHODS: We ..."``, becomes a part of a structured abstract, and consecutive
    blanks count as one. JSON does not keep versions.

    Parameters
    ----------
    records : iterable of Record
        The records; one at a time is held in memory.
    path : path
        A name that ends in .xml or .jsonl, or in .xml.gz or .jsonl.gz to be compressed.
    overwrite : bool
        Whether an existing file may be replaced; otherwise it is an error.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> record = Record("1", "Aspirin and fever.", "We gave it.", ("Aspirin", "Fever"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "records.jsonl")
    ...     write_records([record], path)
    ...     print(path.read_text())
    {"pmid": "1", "title": "Aspirin and fever.", "abstract": "We gave it.",
     "mesh": ["Aspirin", "Fever"]}
    """
    name = os.fspath(path).lower()
    if name.endswith((".xml", ".xml.gz")):
        lines = _xml_lines(records)
    elif name.endswith((".jsonl", ".jsonl.gz")):
        lines = _json_lines(records)
    else:
        suffixes = spell_out((".xml", ".xml.gz", ".jsonl", ".jsonl.gz"), "or")
        raise ValueError(f"path must end in {suffixes}; got {os.fspath(path)!r}")
    pack = _packed if name.endswith(".gz") else nullcontext
    with whole_file(path, overwrite) as part, part.open("wb") as plain, pack(plain) as file:
        file.writelines(line.encode() for line in lines)


def _packed(plain: BinaryIO) -> AbstractContextManager[BinaryIO]:
    # Without a name and a time in the header, equal records give equal bytes.
    packed = gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=plain, mtime=0)
    return cast(AbstractContextManager[BinaryIO], packed)


def _json_lines(records: Iterable[Record]) -> Iterator[str]:
    for record in records:
        _check_characters(record, _NO_UTF8, "UTF-8")
        pmid, title, abstract, mesh, _ = record
        row = {"pmid": pmid, "title": title, "abstract": abstract, "mesh": mesh}
        yield json.dumps(row, ensure_ascii=False) + "\n"


def _xml_lines(records: Iterable[Record]) -> Iterator[str]:
    yield _HEAD
    for record in records:
        _check_characters(record, _NO_XML, "XML 1.0")
        yield _ARTICLE.format(
            version=record.version,
            pmid=_escape(record.pmid),
            title=_escape(record.title),
            abstract=_list("Abstract", map(_abstract_text, record.abstract.split("\n"))),
            mesh=_list("MeshHeadingList", map(_heading, record.mesh)),
        )
    yield _TAIL


def _check_characters(record: Record, forbidden: re.Pattern[str], standard: str) -> None:
    text = "".join([record.pmid, record.title, record.abstract, *record.mesh])
    if found := forbidden.search(text):
        raise ValueError(
            f"records must contain only characters that {standard} allows; the record with PMID "
            f"{record.pmid!a} contains {found[0]!a}: remove it"
        )


def _list(name: str, items: Iterable[str]) -> str:
    """Return a list as XML, or nothing if it is empty, which NLM's definition forbids."""
    inside = "".join(items)
    return f"<{name}>\n{inside}</{name}>\n" if inside else ""


def _abstract_text(line: str) -> str:
    if not line.strip():
        return ""
    label, colon, text = line.partition(": ")
    labelled = colon and label.isupper() and label == label.strip() and label != _UNLABELLED
    if labelled and text.strip():
        return f"<AbstractText Label={quoteattr(label)}>{_escape(text)}</AbstractText>\n"
    return f"<AbstractText>{_escape(line)}</AbstractText>\n"


@lru_cache(maxsize=1 << 16)
def _heading(term: str) -> str:
    # A record has no identifiers of terms, so they are derived from the terms, equal in every file.
    number = int.from_bytes(blake2b(term.encode(), digest_size=8).digest()) % 10**12
    return (
        f'<MeshHeading><DescriptorName UI="D{number:012}" MajorTopicYN="N">{_escape(term)}'
        "</DescriptorName></MeshHeading>\n"
    )


def _escape(text: str) -> str:
    return escape(text, {"\r": "&#13;"})  # parsers would read a bare \r as a new line
