"""Parse PubMed's and MEDLINE's XML as a stream, with one record in memory at a time.

Files come from anywhere, so nothing is fetched, no entity is expanded, and everything that the
parser could accumulate has a limit.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import BinaryIO, NoReturn
from xml.parsers import expat

from halfmax._core.text import spell_out
from halfmax.mesh.records.record import MOST_TEXT, BadRecordError, Deletion, Record, tidy

_Tree = dict[str, "_Tree | str"]

_ABSTRACT: _Tree = {"AbstractText": "abstract"}
_TITLES: _Tree = {"ArticleTitle": "title", "VernacularTitle": "vernacular title"}
_CITATION: _Tree = {
    "PMID": "pmid",
    "Article": {**_TITLES, "Abstract": _ABSTRACT},
    "MeshHeadingList": {"MeshHeading": {"DescriptorName": "mesh"}},
}
_BOOK: _Tree = {
    "PMID": "pmid",
    **_TITLES,
    "Abstract": _ABSTRACT,
    "Book": {"BookTitle": "book title"},  # a whole book has no other title
}
_ONE: _Tree = {
    "PubmedArticle": {"MedlineCitation": _CITATION},
    "MedlineCitation": _CITATION,
    "PubmedBookArticle": {"BookDocument": _BOOK},
    "BookDocument": _BOOK,
    "DeleteCitation": {"PMID": "deleted"},
    "DeleteDocument": {"PMID": "deleted"},
}
_SETS = ("PubmedArticleSet", "MedlineCitationSet", "PubmedBookArticleSet", "BookDocumentSet")
_ROOTS: _Tree = {**_ONE, **dict.fromkeys(_SETS, _ONE)}
_RECORDS = ("MedlineCitation", "BookDocument")
_PLACEHOLDERS = ("[Not Available].", "[Not Available]", "[In Process Citation].", "")

_CHUNK_BYTES = 1 << 16
_DEEPEST = 100  # nested elements; MathML in an abstract reaches about twenty
_LONGEST_TOKEN = 1 << 20  # bytes of one tag or comment, which the parser buffers until it ends
_MOST_NAMES = 1 << 20  # characters of all element names, which the parser never forgets
_PIECE = 64  # the cost of a text besides its characters
_ENDS_EARLY = (
    expat.errors.XML_ERROR_NO_ELEMENTS,
    expat.errors.XML_ERROR_UNCLOSED_TOKEN,
    expat.errors.XML_ERROR_PARTIAL_CHAR,
    expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
)
_NOT_DECLARED = (
    "is not predefined in XML, and no DTD is fetched: write the character itself or its number"
)


def parse(stream: BinaryIO, name: str) -> Iterator[Record | Deletion]:
    """Yield the records and deletions of an XML file, in its order; `name` is for errors."""
    reader = _Reader()
    at_end = False
    while not at_end:
        chunk = stream.read(_CHUNK_BYTES)
        at_end = not chunk
        try:
            ready = reader.feed(chunk, at_end)
        except expat.ExpatError as error:
            raise ValueError(_explain(name, error, at_end)) from None
        except BadRecordError as error:
            raise ValueError(f"{name}, {reader.place}: {error}") from None
        except (LookupError, ValueError) as error:
            raise ValueError(
                f"{name}, {reader.place}: {error}; a file must be in UTF-8, UTF-16 or a "
                "single-byte encoding that Python knows"
            ) from None
        yield from ready


class _Reader:
    """Collect the texts of interest while the parser visits elements, and build records.

    An element is on the `_path` as long as it may contain something of interest. Inside a text that
    is kept, or an element that is skipped, nested elements are only counted.
    """

    def __init__(self) -> None:
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._check_doctype
        parser.SkippedEntityHandler = self._refuse_entity
        self._ready: list[Record | Deletion] = []
        self._fed = self._names = 0
        self._path = [_ROOTS]
        self._depth = self._closed_at = 0  # the depth of the element whose children are ignored
        self._kind, self._attributes = "", dict[str, str]()
        self._pieces: list[str] = []
        self._begin_record()

    def feed(self, chunk: bytes, at_end: bool) -> list[Record | Deletion]:
        """Return the records that end in this chunk."""
        self._ready = []
        self._fed += len(chunk)
        self._parser.Parse(chunk, at_end)
        if not at_end:
            self._check_memory()
        return self._ready

    @property
    def place(self) -> str:
        return _place(self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber)

    def _check_memory(self) -> None:
        if self._fed - self._parser.CurrentByteIndex > _LONGEST_TOKEN:
            raise BadRecordError(f"a tag or comment must be shorter than {_LONGEST_TOKEN:,} bytes")
        if not self._parser.intern and self._fed > _LONGEST_TOKEN:
            raise BadRecordError(f"the first element must begin within {_LONGEST_TOKEN:,} bytes")
        names = self._parser.intern
        if len(names) > self._names:
            self._names = len(names)
            if sum(len(name or "") for name in names) > _MOST_NAMES:  # None: a DOCTYPE lacks an id
                raise BadRecordError(
                    "there are more names of elements and attributes than NLM has ever used; it "
                    "must be PubMed's or MEDLINE's XML"
                )

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._closed_at:
            if self._depth > _DEEPEST:
                raise BadRecordError(f"elements must not be nested deeper than {_DEEPEST}")
            return
        inner = self._path[-1].get(name)
        if isinstance(inner, dict):
            self._path.append(inner)
            return
        self._closed_at = self._depth
        if inner:
            self._kind, self._attributes = inner, attributes
            self._parser.CharacterDataHandler = self._keep
        elif self._depth == 1:
            known = spell_out(("PubmedArticleSet", "MedlineCitationSet", "DeleteCitation"), "or")
            raise BadRecordError(
                f"the root element must be {known}, as in PubMed's files; got {name[:60]!r}"
            )

    def _end(self, name: str) -> None:
        depth = self._depth
        self._depth = depth - 1
        if not self._closed_at:
            self._path.pop()
            if name in _RECORDS:
                self._end_record()
        elif self._closed_at == depth:
            self._closed_at = 0
            if self._kind:
                self._end_text()

    def _keep(self, text: str) -> None:
        self._pieces.append(text)
        self._hold(text)

    def _hold(self, text: str) -> None:
        self._held += len(text) + _PIECE
        if self._held > MOST_TEXT:
            raise BadRecordError(f"a record must have less than {MOST_TEXT:,} characters of text")

    def _end_text(self) -> None:
        self._parser.CharacterDataHandler = None
        kind, text = self._kind, tidy("".join(self._pieces))
        self._kind, self._pieces = "", []
        if kind == "deleted":
            self._end_deletion(text)
            return
        if kind == "pmid":
            self._version = self._version_of_pmid() or 1
        elif kind == "abstract":
            label = tidy(self._attributes.get("Label", ""))
            self._hold(label)
            text = f"{label}: {text}" if text and label not in ("", "UNLABELLED") else text
        if text:
            self._texts[kind].append(text)

    def _version_of_pmid(self) -> int | None:
        version = self._attributes.get("Version")
        if version is None:
            return None
        if not (version.isascii() and version.isdigit() and len(version) < 10):
            raise BadRecordError(f"the Version of a PMID must be a number; got {version[:60]!r}")
        return int(version)

    def _end_deletion(self, pmid: str) -> None:
        if not pmid:
            raise BadRecordError("a PMID to delete must not be empty")
        self._ready.append(Deletion(pmid, self._version_of_pmid()))
        self._held = 0

    def _begin_record(self) -> None:
        self._texts: defaultdict[str, list[str]] = defaultdict(list)
        self._version, self._held = 1, 0

    def _end_record(self) -> None:
        texts = self._texts
        if len(texts["pmid"]) != 1:
            raise BadRecordError(
                f"a record must have one PMID; the one that ends here has {len(texts['pmid'])}"
            )
        self._ready.append(
            Record(
                texts["pmid"][0],
                _title(texts),
                "\n".join(texts["abstract"]),
                tuple(dict.fromkeys(texts["mesh"])),
                self._version,
            )
        )
        self._begin_record()

    def _check_doctype(self, *named: object) -> None:
        if named[-1]:  # the last argument says whether there is an internal subset
            raise BadRecordError(
                "the DOCTYPE must only name NLM's DTD; this one has declarations of its own, which "
                "could be entities that grow without end or fetch other files"
            )

    def _refuse_entity(self, name: str, _: bool) -> NoReturn:
        raise BadRecordError(f"the entity &{name[:60]}; {_NOT_DECLARED}")


def _title(texts: dict[str, list[str]]) -> str:
    title = " ".join(texts["title"])
    if title in _PLACEHOLDERS:  # NLM's words for a title that is not translated
        title = " ".join(texts["vernacular title"] or texts["book title"]) or title
    return title


def _place(line: int, column: int) -> str:
    return f"line {line}, column {column + 1}"


def _explain(name: str, error: expat.ExpatError, at_end: bool) -> str:
    reason = expat.errors.messages[error.code]
    place = _place(error.lineno, error.offset)
    if at_end and reason in _ENDS_EARLY:
        return f"{name} ends too early, at {place} ({reason}): download it again"
    if reason == expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT:
        return f"{name}, {place}: a file must be one XML document; another begins here: split it"
    if reason == expat.errors.XML_ERROR_UNDEFINED_ENTITY:
        return f"{name}, {place}: an entity {_NOT_DECLARED}"
    return (
        f"{name} is not well-formed XML at {place}: {reason}. It may be damaged: download it again"
    )
