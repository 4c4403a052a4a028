"""Files of records that are damaged, hostile or of another kind are refused with an explanation."""

import gzip
import io
import json
import os

import numpy as np
import pyarrow as pa
import pytest

from halfmax.mesh.records import pubmed
from halfmax.mesh.records.corpus import Corpus, gather
from halfmax.mesh.records.reading import find_files, read_records
from halfmax.mesh.records.record import MOST_TEXT, Record

TITLE = (
    "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>"
    "{}</ArticleTitle></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>"
)
OPEN_TITLE = TITLE.split("{}")[0]
GOOD = TITLE.format("Fine.")
PACKED = gzip.compress(GOOD.encode(), mtime=0)
LAUGHS = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))


def declared(declarations, title="x"):
    return f'<!DOCTYPE PubmedArticleSet PUBLIC "p" "s" [{declarations}]>{TITLE.format(title)}'


def row(**changes):
    return json.dumps({"pmid": 1, "title": "T", "abstract": None, "mesh": []} | changes)


def in_set(inside):
    return f"<PubmedArticleSet>{inside}</PubmedArticleSet>"


OWN = ["DOCTYPE must only name NLM's DTD", "entities"]
ONE_PER_LINE = "one JSON object per line"

XML = [
    ("billion laughs", declared(f'<!ENTITY l0 "ha">{LAUGHS}', "&l9;"), OWN),
    ("quadratic", declared(f'<!ENTITY a "{"x" * 50_000}">', "&a;" * 5000), OWN),
    ("external", declared('<!ENTITY a SYSTEM "file:///etc/passwd">', "&a;"), OWN),
    ("parameter", declared('<!ENTITY % a SYSTEM "http://127.0.0.1:9/x"> %a;'), OWN),
    ("undeclared parameter", declared("%a;"), OWN),
    ("defaults", declared(f'<!ATTLIST PMID a CDATA "{"x" * 50_000}">'), OWN),
    (
        "entity of the DTD",
        '<!DOCTYPE PubmedArticleSet SYSTEM "x.dtd">' + TITLE.format("&alpha;"),
        ["line 1, column", "&alpha;", "no DTD is fetched", "its number"],
    ),
    ("entity of none", TITLE.format("&alpha;"), ["line 1, column", "no DTD is fetched"]),
    ("deep", TITLE.format("<i>" * 96 + "</i>" * 96), ["nested deeper than 100"]),
    ("deep elsewhere", in_set("<a>" * 100), ["line 1", "nested deeper than 100"]),
    ("mismatch", "<PubmedArticleSet>\n<a></b>\n", ["line 2, column 6", "mismatched", "again"]),
    ("not UTF-8", TITLE.format("é").encode("latin-1"), ["line 1", "not well-formed"]),
    ("surrogate", TITLE.format("&#xd800;"), ["invalid character number"]),
    ("a zero", TITLE.format("\0"), ["not well-formed"]),
    ("cut in a text", GOOD[:100], ["ends too early", "line 1, column", "download it again"]),
    ("cut in a tag", GOOD[:24], ["ends too early", "download it again"]),
    ("cut in a comment", "<PubmedArticleSet><!-- ", ["ends too early"]),
    ("cut at once", '<?xml version="1.0"?>\n', ["ends too early", "line 2"]),
    ("two", GOOD + "\n" + GOOD, ["line 2", "one XML document", "split it"]),
    ("another root", "<html><meta></html>", ["root element", "PubmedArticleSet", "got 'html'"]),
    ("an answer", "<eFetchResult><ERROR>no</ERROR></eFetchResult>", ["got 'eFetchResult'"]),
    ("unknown encoding", '<?xml version="1.0" encoding="mine"?><a/>', ["mine", "UTF-8"]),
    ("many bytes", '<?xml version="1.0" encoding="shift_jis"?><a/>', ["multi-byte", "UTF-8"]),
    ("no PMID", "<MedlineCitation/>", ["must have one PMID", "has 0"]),
    ("empty PMID", "<MedlineCitation><PMID> </PMID></MedlineCitation>", ["has 0"]),
    (
        "two PMIDs",
        "<MedlineCitation><PMID>1</PMID><PMID>2</PMID></MedlineCitation>",
        ["must have one PMID", "has 2"],
    ),
    (
        "version",
        "<MedlineCitation><PMID Version='x'>1</PMID></MedlineCitation>",
        ["Version", "number", "got 'x'"],
    ),
    ("empty deletion", "<DeleteCitation><PMID/></DeleteCitation>", ["delete", "not be empty"]),
]

JSON = [
    ("list on a line", row() + "\n[]", ["line 2", ONE_PER_LINE, "got a list"]),
    ("text on a line", row() + '\n\n"x"', ["line 3", "got a string, 'x'"]),
    ("pretty", '{\n  "pmid": 1\n}', ["line 1", ONE_PER_LINE, "at character"]),
    ("cut", row() + '\n{"pmid": 2, "tit', ["line 2", "the JSON is wrong"]),
    ("not UTF-8", row().encode() + b'\n{"pmid": "\xe9"}', ["line 2", "must be UTF-8", "\\xe9"]),
    ("UTF-16", row().encode("utf-16"), ["line 1", "must be UTF-8"]),
    ("half a pair", row(title="\ud800"), ["'title'", "surrogate", "ud800"]),
    ("half in mesh", row(mesh=["\udc00"]), ["'mesh'", "surrogate"]),
    ("no pmid", '{"title": "T"}', ["'pmid'", "none"]),
    ("null pmid", row(pmid=None), ["'pmid'", "whole number or a string", "got null"]),
    ("true pmid", row(pmid=True), ["'pmid'", "got true or false, True"]),
    ("float pmid", row(pmid=1.0), ["'pmid'", "fraction, 1.0"]),
    ("list pmid", row(pmid=[1]), ["'pmid'", "got a list"]),
    ("empty pmid", row(pmid=" "), ["'pmid'", "non-empty", "got ' '"]),
    ("negative pmid", row(pmid=-1), ["'pmid'", "positive", "got -1"]),
    ("mesh text", row(mesh="Mice"), ["'mesh'", "list of strings", "got a string, 'Mice'"]),
    ("mesh object", row(mesh={"a": 1}), ["'mesh'", "got an object"]),
    ("mesh numbers", row(mesh=["Mice", 1]), ["'mesh'", "item 1 is a number, 1"]),
    ("mesh blank", row(mesh=[""]), ["'mesh'", "not be empty", "item 0"]),
    ("title number", row(title=5), ["'title' must be a string", "got a number, 5"]),
    ("abstract list", row(abstract=["a"]), ["'abstract' must be a string", "got a list"]),
    ("long number", '{"pmid": ' + "1" * 5000 + "}", ["line 1", "cannot be read"]),
    ("nested", '{"x": ' + "[" * 100_000, ["line 1", "cannot be read"]),
    ("long line", '{"pmid": 1, "title": "' + "x" * MOST_TEXT, ["line 1", "shorter than"]),
]

FILES = [
    ("empty", b"", ["is empty", "PubMed's XML", ONE_PER_LINE, "Download it again"]),
    ("blank", b" \n\n", ["blanks only", "PubMed's XML"]),
    ("empty gzip", gzip.compress(b""), ["is empty"]),
    ("list", b'\n [{"pmid": 1}]', ["is a JSON list", ONE_PER_LINE]),
    ("zip", b"PK\x03\x04...", ["PubMed's XML", ONE_PER_LINE, "begins with b'PK"]),
    ("text", b"pmid,title\n", ["with or without gzip", "begins with b'pmid,title"]),
    ("twice packed", gzip.compress(PACKED, mtime=0), [r"begins with b'\x1f\x8b"]),
    ("gzip cut", PACKED[:-20], ["cut short", "Download it again"]),
    ("gzip cut at its end", PACKED[:-4], ["cut short", "Download it again"]),
    ("gzip cut at its start", PACKED[:5], ["cut short", "Download it again"]),
    ("gzip wrong", PACKED[:30] + b"\xff\xff\xff" + PACKED[33:], ["damaged", "Download it again"]),
    ("gzip of another sum", PACKED[:-8] + bytes(4) + PACKED[-4:], ["damaged", "CRC"]),
    ("gzip and more", PACKED + b"more", ["damaged", "Download it again"]),
]

CASES = [pytest.param(bad, words, id=name) for name, bad, words in XML + JSON + FILES]


@pytest.mark.parametrize(("content", "words"), CASES)
def test_bad_files_are_named_and_explained(tmp_path, content, words):
    path = tmp_path / "bad.file"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=r"bad\.file") as caught:
        gather(path, tmp_path / "corpus.arrow")
    assert [word for word in words if word not in str(caught.value)] == []
    assert len(str(caught.value)) < 600
    assert os.listdir(tmp_path) == ["bad.file"]


class Endless:
    """A stream that continues after its beginning for as long as it is read."""

    def __init__(self, start, body):
        self.start, self.body, self.sent = start.encode(), body, 0

    def read(self, size):
        if self.start:
            start, self.start = self.start, b""
            return start
        self.sent += size
        assert self.sent < 64 << 20, "it was read without end"
        if isinstance(self.body, str):
            return self.body.encode() * (size // len(self.body))
        return b"".join(self.body(self.sent + i) for i in range(size // 32))


ENDLESS = [
    ("text", OPEN_TITLE, "text ", "characters of text"),
    (
        "labels",
        "<PubmedArticleSet><PubmedArticle><MedlineCitation><Article><Abstract>",
        f"<AbstractText Label='{'x' * 60_000}'>y</AbstractText>",
        "characters of text",
    ),
    ("data", OPEN_TITLE + "<![CDATA[", "text ", "characters of text"),
    ("markup", OPEN_TITLE, "<i>x</i>", "characters of text"),
    ("comment", OPEN_TITLE + "<!-- ", "text ", "tag or comment must be shorter"),
    ("attribute", OPEN_TITLE + "<i a='", "text ", "tag or comment must be shorter"),
    ("name", OPEN_TITLE + "<", "text", "tag or comment must be shorter"),
    ("instruction", OPEN_TITLE + "<?", "text", "tag or comment must be shorter"),
    ("address of a DTD", "<!DOCTYPE a SYSTEM '", "text", "tag or comment must be shorter"),
    ("blanks", "<!-- -->", " \n", "first element must begin within"),
    ("comments", "<!-- -->", "<!-- -->", "first element must begin within"),
    ("depth", "<PubmedArticleSet>", "<a>", "nested deeper than 100"),
    ("names", "<PubmedArticleSet>", lambda i: b"<n%d a%d=''/>" % (i, i), "more names"),
]


@pytest.mark.parametrize(
    ("start", "body", "words"), [pytest.param(*case, id=name) for name, *case in ENDLESS]
)
def test_what_has_no_end_is_refused(start, body, words):
    with pytest.raises(ValueError, match=rf"^some\.xml, line .*{words}"):
        list(pubmed.parse(Endless(start, body), "some.xml"))


def test_what_is_just_allowed():
    [record] = pubmed.parse(
        io.BytesIO(TITLE.format("<i>" * 95 + "x" + "</i>" * 95).encode()), "some.xml"
    )
    assert record.title == "x"
    long = "x" * (15 << 20)
    [record] = pubmed.parse(io.BytesIO(TITLE.format(long).encode()), "some.xml")
    assert record.title == long


def test_elements_that_are_not_used_are_not_held():
    """Endless authors are skipped, not collected."""
    names = "<AuthorList>" + "<Author>x</Author>" * 200_000 + "</AuthorList>"
    content = GOOD.replace("<ArticleTitle>", names + "<ArticleTitle>").encode()
    [record] = pubmed.parse(io.BytesIO(content), "some.xml")
    assert record.title == "Fine."


def test_records_before_the_damage_are_read(tmp_path):
    (tmp_path / "bad.jsonl").write_text(row() + "\n" + row(pmid=2) + "\n{")
    records = read_records(tmp_path)
    assert [next(records).pmid, next(records).pmid] == ["1", "2"]
    with pytest.raises(ValueError, match="line 3"):
        next(records)


def test_paths_that_name_nothing(tmp_path):
    def refused(paths, error, words):
        with pytest.raises(error, match=words):
            find_files(paths)
        with pytest.raises(error, match=words):
            read_records(paths)  # before anything is read

    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / ".hidden.xml").write_text("x")
    endings = r"'\.xml', '\.xml\.gz', '\.jsonl'"
    refused([], ValueError, "got none")
    refused(tmp_path, FileNotFoundError, f"holds no file that ends in {endings}")
    refused(tmp_path / "a.xml", FileNotFoundError, r"no file or folder .*a\.xml")
    refused(tmp_path / "*.xml", FileNotFoundError, r"no file matches .*\*\.xml")
    refused(tmp_path / "*.txt", FileNotFoundError, f"matches .* ends in {endings}.*one by one")
    refused(os.devnull, ValueError, "a device or a pipe")


def test_a_file_that_is_named_twice(tmp_path):
    (tmp_path / "a.xml").write_text(GOOD)
    (tmp_path / "b.xml").symlink_to(tmp_path / "a.xml")
    for paths in ([tmp_path / "a.xml", tmp_path / "*a.xml"], [tmp_path]):
        with pytest.raises(ValueError, match=r"named only once; .*\.xml would be read twice"):
            find_files(paths)


def test_progress_of_the_wrong_kind(tmp_path):
    (tmp_path / "a.xml").write_text(GOOD)
    with pytest.raises(TypeError, match="progress must be"):
        read_records(tmp_path, progress=3)


def test_no_corpus(tmp_path):
    corpus = Corpus.write([Record("1", "One.", "", ())], tmp_path / "c.arrow")
    content = corpus.path.read_bytes()
    other = io.BytesIO()
    with pa.ipc.new_file(other, pa.schema([("a", pa.int8())])):
        pass
    cases = {"": b"", "text": b"hello", "cut": content[:-30], "other": other.getvalue()}
    cases["bytes"] = content.replace(b"One.", b"\xff\xff\xff\xff")
    for name, bad in cases.items():
        (tmp_path / f"{name}.bad").write_bytes(bad)
        with pytest.raises(ValueError, match=r"is not a corpus of records.*gather"):
            Corpus.open(tmp_path / f"{name}.bad")
    with pytest.raises(FileNotFoundError, match=r"no file .*nowhere.*gather"):
        Corpus.open(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("rows", "error", "words"),
    [
        ([1, 0], ValueError, "ascending"),
        ([0, 2], ValueError, "from 0 to 1; got 0 to 2"),
        ([-1, 0], ValueError, "from 0 to 1; got -1"),
        ([True, False], TypeError, "whole numbers; got 1 dimensions of bool"),
        ([0.0], TypeError, "float64"),
        ([[0]], TypeError, "2 dimensions"),
    ],
)
def test_rows_that_are_not_there(tmp_path, rows, error, words):
    two = [Record("1", "One.", "", ()), Record("2", "Two.", "", ())]
    corpus = Corpus.write(two, tmp_path / "c.arrow")
    with pytest.raises(error, match=words):
        list(corpus.texts(np.array(rows)))
    assert list(corpus.texts(np.array([]))) == []


def test_a_corpus_needs_a_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        Corpus.write([], tmp_path / "nowhere" / "c.arrow")
