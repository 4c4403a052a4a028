"""MEDLINE records: NLM's XML and JSON lines, read from files, kept as a corpus."""

import gzip
import io
import json
import os
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from surroundings import SHARED_DATA

from halfmax._core.limits import changed
from halfmax.mesh.records import json_lines, pubmed
from halfmax.mesh.records.corpus import Corpus, gather
from halfmax.mesh.records.reading import find_files, read_records
from halfmax.mesh.records.record import Deletion, Record

MEDLINE = Path(os.environ.get("HALFMAX_DATA", SHARED_DATA)) / "medline"

real = pytest.mark.skipif(not MEDLINE.is_dir(), reason=f"there are no MEDLINE records in {MEDLINE}")

DOCTYPE = (
    '<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" '
    '"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">'
)


class Trickle(io.BytesIO):
    """A stream that returns one byte at a time."""

    def read(self, size=-1, /):
        return super().read(min(size, 1))


def parse_xml(content, stream=io.BytesIO):
    raw = content.encode() if isinstance(content, str) else content
    return list(pubmed.parse(stream(raw), "some.xml"))


def citation(inside, pmid='<PMID Version="1">7</PMID>'):
    return f"<MedlineCitation>{pmid}{inside}</MedlineCitation>"


def only(inside):
    [record] = parse_xml(f"<PubmedArticleSet>{citation(inside)}</PubmedArticleSet>")
    return record


def write_xml(records):
    """The file that a plain writer writes of records and deletions."""
    root = ElementTree.Element("PubmedArticleSet")
    for record in records:
        if isinstance(record, Deletion):
            _add_pmid(ElementTree.SubElement(root, "DeleteCitation"), record)
            continue
        article = ElementTree.SubElement(root, "PubmedArticle")
        cited = ElementTree.SubElement(article, "MedlineCitation", Status="MEDLINE")
        _add_pmid(cited, record)
        inside = ElementTree.SubElement(cited, "Article")
        ElementTree.SubElement(inside, "ArticleTitle").text = record.title
        if record.abstract:
            abstract = ElementTree.SubElement(inside, "Abstract")
            for line in record.abstract.split("\n"):
                ElementTree.SubElement(abstract, "AbstractText").text = line
        headings = ElementTree.SubElement(cited, "MeshHeadingList")
        for term in record.mesh:
            heading = ElementTree.SubElement(headings, "MeshHeading")
            ElementTree.SubElement(heading, "DescriptorName", UI="D000001").text = term
            ElementTree.SubElement(heading, "QualifierName").text = "metabolism"
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)


def _add_pmid(parent, record):
    attributes = {} if record.version is None else {"Version": str(record.version)}
    ElementTree.SubElement(parent, "PMID", attributes).text = record.pmid


words = st.text("ab<>&\"'é\u2009β😀", min_size=1, max_size=6)
lines = st.lists(words, min_size=1, max_size=3).map(" ".join)
pmids = st.integers(1, 6).map(str)
records = st.builds(
    Record,
    pmids,
    lines,
    st.lists(lines, max_size=2).map("\n".join),
    st.lists(words.filter(str.strip), unique=True, max_size=3).map(tuple),
    st.integers(1, 3),
)
deletions = st.builds(Deletion, pmids, st.none() | st.integers(1, 3))
comings = st.lists(st.one_of(records, records, deletions), max_size=20)


@given(comings)
def test_xml_gives_back_what_was_written(coming):
    content = write_xml(coming)
    assert parse_xml(content) == coming
    assert parse_xml(content, Trickle) == coming


@given(st.lists(records, max_size=8))
def test_json_gives_back_what_was_written(coming):
    rows = [r._asdict() | {"year": 1999} for r in coming]
    for ascii_only in (False, True):
        content = "\n".join(json.dumps(row, ensure_ascii=ascii_only) for row in rows).encode()
        found = list(json_lines.parse(io.BytesIO(content), "some.jsonl"))
        assert found == [record._replace(version=1) for record in coming]


def test_json_terms_are_tidied_as_those_of_xml():
    content = b'{"pmid": 7, "mesh": [" Humans ", "Humans", "Mice,\\n Inbred"]}'
    [found] = json_lines.parse(io.BytesIO(content), "some.jsonl")
    assert found.mesh == ("Humans", "Mice, Inbred")


def test_json_without_or_with_null():
    content = b'{"pmid": "7 "}\n{"pmid": 7, "title": null, "abstract": null, "mesh": null}'
    found = list(json_lines.parse(io.BytesIO(content), "some.jsonl"))
    assert found == [Record("7", "", "", ())] * 2


def test_a_title_without_its_markup():
    formula = "<mml:math><mml:mi>&#x3b2;</mml:mi></mml:math>"
    title = f"H<sub>2</sub>O and <i>E.\n  <b>coli</b></i> in {formula}"
    assert only(f"<Article><ArticleTitle>{title}</ArticleTitle></Article>").title == (
        "H2O and E. coli in β"
    )


@pytest.mark.parametrize("given_title", ["", "<ArticleTitle/>", "<ArticleTitle> </ArticleTitle>"])
def test_the_vernacular_title_replaces_an_empty_one(given_title):
    inside = f"<Article>{given_title}<VernacularTitle>Über alles.</VernacularTitle></Article>"
    assert only(inside) == Record("7", "Über alles.", "", ())


def test_the_vernacular_title_replaces_a_placeholder():
    both = (
        "<Article><ArticleTitle>[Not Available].</ArticleTitle>"
        "<VernacularTitle>Sur l'eau.</VernacularTitle></Article>"
    )
    assert only(both).title == "Sur l'eau."
    assert only("<Article><ArticleTitle>[Not Available].</ArticleTitle></Article>").title == (
        "[Not Available]."
    )
    assert only("<Article/>") == Record("7", "", "", ())


def test_only_the_abstract_of_the_article():
    record = only(
        "<Article><Abstract><AbstractText Label='BACK\n GROUND'>One  <i>two</i>.</AbstractText>"
        "<AbstractText Label='UNLABELLED'>Three.</AbstractText><AbstractText Label='EMPTY'/>"
        "<AbstractText>Four.</AbstractText><CopyrightInformation>Mine.</CopyrightInformation>"
        "</Abstract></Article>"
        "<OtherAbstract><AbstractText>No.</AbstractText></OtherAbstract>"
    )
    assert record.abstract == "BACK GROUND: One two.\nThree.\nFour."


def test_only_descriptors_each_once():
    record = only(
        "<ChemicalList><Chemical><NameOfSubstance>No</NameOfSubstance></Chemical></ChemicalList>"
        "<SupplMeshList><SupplMeshName>No</SupplMeshName></SupplMeshList><MeshHeadingList>"
        "<MeshHeading><DescriptorName>Mice</DescriptorName><QualifierName>q</QualifierName>"
        "</MeshHeading><MeshHeading><DescriptorName>Aging\n&amp; Co</DescriptorName></MeshHeading>"
        "<MeshHeading><DescriptorName>Mice</DescriptorName></MeshHeading></MeshHeadingList>"
        "<KeywordList><Keyword>No</Keyword></KeywordList>"
    )
    assert record.mesh == ("Mice", "Aging & Co")


def test_the_pmid_is_that_of_the_citation():
    other = "<CommentsCorrectionsList><CommentsCorrections><PMID>9</PMID></CommentsCorrections>"
    content = citation(f"{other}</CommentsCorrectionsList>", '<PMID Version="3"> 7\n</PMID>')
    data = "<PubmedData><ArticleIdList><ArticleId>8</ArticleId><PMID>8</PMID></ArticleIdList>"
    article = f"<PubmedArticle>{content}{data}</PubmedData></PubmedArticle>"
    expected = [Record("7", "", "", (), 3)]
    assert parse_xml(f"<PubmedArticleSet>{article}</PubmedArticleSet>") == expected
    assert parse_xml(DOCTYPE + article) == expected
    assert parse_xml(content) == expected
    assert parse_xml(f"<MedlineCitationSet>{content}</MedlineCitationSet>") == expected


@pytest.mark.parametrize(
    "doctype",
    [
        "<!DOCTYPE PubmedArticleSet>",
        '<!DOCTYPE PubmedArticleSet SYSTEM "">',
        '<!DOCTYPE PubmedArticleSet SYSTEM "http://dtd.nlm.nih.gov/pubmed_190101.dtd">',
        '<!DOCTYPE PubmedArticleSet PUBLIC "" "">',
        DOCTYPE,
    ],
)
@pytest.mark.parametrize("stream", [io.BytesIO, Trickle])
def test_a_doctype_may_leave_out_its_ids(doctype, stream):
    content = f"<PubmedArticleSet>{citation('')}</PubmedArticleSet>"
    assert parse_xml(doctype + content, stream) == parse_xml(content)


def test_books_and_deletions():
    book = (
        "<PubmedBookArticle><BookDocument><PMID Version='1'>5</PMID><ArticleIdList><ArticleId>x"
        "</ArticleId></ArticleIdList><Book><BookTitle>All of it</BookTitle></Book>{}<Abstract>"
        "<AbstractText>Text.</AbstractText></Abstract></BookDocument><PubmedBookData/>"
        "</PubmedBookArticle>"
    )
    chapter = book.format("<ArticleTitle book='b'>A chapter</ArticleTitle>")
    found = parse_xml(
        f"<PubmedArticleSet>{chapter}{book.format('')}<DeleteDocument><PMID>3</PMID>"
        "</DeleteDocument></PubmedArticleSet>"
    )
    whole = Record("5", "All of it", "Text.", ())
    assert found == [Record("5", "A chapter", "Text.", ()), whole, Deletion("3", None)]
    removed = "<DeleteCitation><PMID Version='2'>3</PMID><PMID>4</PMID></DeleteCitation>"
    assert parse_xml(removed) == [Deletion("3", 2), Deletion("4", None)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "windows-1252"])
def test_encodings_as_declared(encoding):
    inside = citation("<Article><ArticleTitle>caf\u00e9 &#x3b2;</ArticleTitle></Article>")
    content = f'<?xml version="1.0" encoding="{encoding}"?>{inside}'.encode(encoding)
    assert parse_xml(content) == [Record("7", "café β", "", ())]


def test_records_have_a_text():
    assert Record("1", "a", "b", ()).text == "a\nb"
    assert Record("1", "a", "", ()).text == "a"
    assert Record("1", "", "b", ()).text == "b"
    assert Record("1", "", "", ()).text == ""


ONE = [Record("1", "One.", "Text é.", ("Mice",))]
ONE_AS_JSON = json.dumps(ONE[0]._asdict()).encode()


def test_formats_are_recognised_by_content(tmp_path):
    xml = write_xml(ONE)
    contents = [
        xml,
        gzip.compress(xml),
        gzip.compress(xml[:50]) + gzip.compress(b"") + gzip.compress(xml[50:]) + bytes(20),
        b"\xef\xbb\xbf" + xml,
        xml.decode().replace("'utf-8'", "'utf-16'").encode("utf-16"),
        ONE_AS_JSON,
        b"\xef\xbb\xbf\n\n  " + ONE_AS_JSON + b"\r\n\n",
        gzip.compress(ONE_AS_JSON),
    ]
    for place, content in enumerate(contents):
        (tmp_path / "file").write_bytes(content)
        assert list(read_records(tmp_path / "file")) == ONE, place


def test_folders_and_globs_in_order_of_names(tmp_path):
    for name in (
        "b/n0001.xml",
        "a/n0002.xml.gz",
        "a/n0003.JSONL",
        "a/n0002.xml.gz.md5",
        "a/.x.xml",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(ONE_AS_JSON)

    def names(*paths):
        return [file.name for file in find_files([tmp_path / path for path in paths])]

    assert names("a") == ["n0002.xml.gz", "n0003.JSONL"]
    assert names("a", "b") == ["n0002.xml.gz", "n0003.JSONL", "n0001.xml"]
    assert names("*/*") == names("*") == ["n0001.xml", "n0002.xml.gz", "n0003.JSONL"]
    assert names("**/n*") == ["n0001.xml", "n0002.xml.gz", "n0003.JSONL"]
    assert names("a/n0003.JSONL", "a/n0002*") == ["n0003.JSONL", "n0002.xml.gz"]
    assert names("a/n0002.xml.gz.md5") == ["n0002.xml.gz.md5"]
    assert find_files(str(tmp_path / "b")) == [tmp_path / "b" / "n0001.xml"]


def test_progress_ends_with_all_bytes(tmp_path):
    many = [Record(str(i), os.urandom(200).hex(), "", ()) for i in range(3000)]
    (tmp_path / "1.xml.gz").write_bytes(gzip.compress(write_xml(many), 1))
    (tmp_path / "2.jsonl").write_bytes(ONE_AS_JSON)
    reported = []
    assert len(list(read_records(tmp_path, lambda *step: reported.append(step)))) == 3001
    total = sum(file.stat().st_size for file in tmp_path.iterdir())
    assert reported[-1] == (total, total)
    assert len(reported) > 3
    assert reported == sorted(reported)


def naive_current(coming):
    """Each PMID's record in a dictionary, where a record that replaces another goes to the end."""
    kept, replaced, deleted = {}, 0, 0
    for record in coming:
        old = kept.get(record.pmid)
        if isinstance(record, Deletion):
            if old and (record.version is None or old.version <= record.version):
                del kept[record.pmid]
                deleted += 1
        elif old and old.version > record.version:
            replaced += 1
        else:
            replaced += kept.pop(record.pmid, None) is not None
            kept[record.pmid] = record
    return list(kept.values()), replaced, deleted


@given(coming=comings, rows_at_once=st.integers(1, 5), data=st.data())
def test_a_corpus_holds_what_is_current(tmp_path_factory, coming, rows_at_once, data):
    path = tmp_path_factory.getbasetemp() / "corpus.arrow"
    with changed(corpus_rows_at_once=rows_at_once):
        Corpus.write(coming, path)
    corpus = Corpus.open(path)
    current, replaced, deleted = naive_current(coming)
    assert list(corpus.records()) == current
    assert (len(corpus), corpus.replaced, corpus.deleted) == (len(current), replaced, deleted)
    assert corpus.pmids == [record.pmid for record in current]
    assert list(corpus.texts()) == [record.text for record in current]
    assert corpus.with_mesh.tolist() == [i for i, record in enumerate(current) if record.mesh]
    chosen = [row for row in range(len(current)) if data.draw(st.booleans())]
    rows = np.array(chosen, dtype=np.int32)
    assert list(corpus.texts(rows)) == [current[row].text for row in chosen]
    assert list(corpus.records(rows)) == [current[row] for row in chosen]
    check_headings(corpus.headings(), current)


def check_headings(headings, current):
    assert headings.names == sorted({term for record in current for term in record.mesh})
    assert (headings.offsets.dtype, headings.codes.dtype) == (np.int64, np.int32)
    bounds = zip(headings.offsets[:-1], headings.offsets[1:], strict=True)
    found = [tuple(headings.names[code] for code in headings.codes[a:b]) for a, b in bounds]
    assert found == [record.mesh for record in current]


def test_long_records_make_short_batches(tmp_path):
    long = [Record(str(i), "x" * 400, "", ()) for i in range(10)]
    with changed(corpus_characters_at_once=1000):
        corpus = Corpus.write(long, tmp_path / "c.arrow")
    assert list(corpus.records()) == long
    assert corpus._reader.num_record_batches == 4


def test_a_failed_write_leaves_what_was_there(tmp_path):
    path = tmp_path / "c.arrow"
    Corpus.write(ONE, path)

    def broken():
        yield Record("2", "Two.", "", ())
        raise RuntimeError("the disk is on fire")

    with pytest.raises(RuntimeError, match="on fire"):
        Corpus.write(broken(), path)
    assert list(Corpus.open(path).records()) == ONE
    assert os.listdir(tmp_path) == ["c.arrow"]


def test_a_corpus_can_be_written_from_itself(tmp_path):
    corpus = Corpus.write([*ONE, Record("2", "Two.", "", ())], tmp_path / "c.arrow")
    again = Corpus.write(corpus.records(np.array([1])), corpus.path)
    assert again.pmids == ["2"]
    assert "1 records" in repr(again)


@real
def test_real_files_have_the_records_that_they_should():
    found = list(read_records(MEDLINE / "medline16n0902.xml.gz"))
    kept = [record for record in found if isinstance(record, Record)]
    assert len(kept) == 604
    assert sum(bool(record.mesh) for record in kept) == 94
    assert found[-1] == Deletion("26432306", 1)
    assert len(found) == 605
    assert sum(bool(record.abstract) for record in kept) == 526
    assert all(record.title for record in kept)


@real
def test_real_files_agree_with_each_other():
    """NLM's XML and JSON lines made of it elsewhere, without labels of parts and odd spaces."""
    as_json = {record.pmid: record for record in read_records(MEDLINE / "mesh.jsonl.gz")}
    assert len(as_json) == 5160
    both = [r for r in read_records(MEDLINE / "*.xml.gz") if r.pmid in as_json]
    assert len(both) == 584
    for record in both:
        other = as_json[record.pmid]
        assert (record.title, record.mesh) == (other.title, other.mesh)
        assert without_labels(record.abstract, other.abstract) == other.abstract


def without_labels(abstract, like):
    """Its parts in one line, each without a label unless the other abstract has it too."""
    parts = [" ".join(part.split()) for part in abstract.split("\n")]
    return " ".join(part if part in like else part.split(": ", 1)[-1] for part in parts)


@real
def test_real_files_gathered(tmp_path):
    corpus = gather(MEDLINE, tmp_path / "c.arrow")
    assert (len(corpus), corpus.replaced, corpus.deleted) == (5671, 584, 0)
    check_headings(corpus.headings(), list(corpus.records()))
    assert len(corpus.with_mesh) == sum(bool(record.mesh) for record in corpus.records())
