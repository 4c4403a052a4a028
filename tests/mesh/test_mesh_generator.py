"""Synthetic records: what a recipe promises, how they are distributed, and how they are written."""

import gzip
import itertools
import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from halfmax.mesh.records.generator import PAPER, SMALL, Recipe, generate
from halfmax.mesh.records.reading import read_records
from halfmax.mesh.records.record import Record
from halfmax.mesh.records.writing import write_records

TOKENS = TfidfVectorizer().build_analyzer()
RECIPES = {
    "usual": Recipe(300, 60, 150, 2_000),
    "another seed": Recipe(300, 60, 150, 2_000, seed=7),
    "more than a block": Recipe(4_500, 100, 700, 3_000, words_per_record=20),
    "one label": Recipe(50, 10, 1, 500),
    "ten words": Recipe(50, 10, 20, 10),
    "one word": Recipe(5, 5, 2, 1),
    "no test records": Recipe(80, 0, 30, 600),
    "one record": Recipe(1, 2, 12, 110),
    "two records": Recipe(2, 1, 3, 110),
    "as many labels as there is room for": Recipe(40, 20, 480, 300),
    "as many words as there is room for": Recipe(40, 20, 30, 4_400),
    "an odd number, all words just twice": Recipe(41, 20, 30, 2_255),
    "more labels than words": Recipe(100, 20, 90, 5),
    "few labels a record": Recipe(300, 50, 200, 500, labels_per_record=1.5),
    "one word a record": Recipe(60, 10, 20, 60, words_per_record=1),
    "a word of each part": Recipe(60, 10, 20, 80),
}
SOME = list(generate(RECIPES["usual"]))


@pytest.fixture(scope="module")
def small():
    return list(generate(SMALL))[: SMALL.n_train]


@pytest.mark.parametrize("name", RECIPES)
def test_all_terms_and_words_are_in_the_training_records(name):
    recipe = RECIPES[name]
    records = list(generate(recipe))
    assert len(records) == recipe.n_train + recipe.n_test
    train, test = records[: recipe.n_train], records[recipe.n_train :]
    terms = {term for record in train for term in record.mesh}
    assert len(terms) == len({term.lower() for term in terms}) == recipe.n_labels
    assert {term for record in test for term in record.mesh} <= terms
    in_records = Counter(word for record in train for word in set(TOKENS(record.text)))
    assert len(in_records) == recipe.n_words
    assert {word for record in test for word in TOKENS(record.text)} <= set(in_records)
    if recipe.n_train > 1 and 2 * recipe.n_words <= recipe.n_train * recipe.words_per_record:
        assert min(in_records.values()) >= 2


@pytest.mark.parametrize("name", RECIPES)
def test_each_record_is_sound(name):
    records = list(generate(RECIPES[name]))
    assert len({record.pmid for record in records}) == len(records)
    for record in records:
        assert record.mesh
        assert len(set(record.mesh)) == len(record.mesh)
        assert all(len(word) > 1 for word in re.findall(r"\w+", record.text))
        assert not re.search(r"\d", record.text)
        for sentence in re.split(r"(?<=\.)\s", record.text):
            text = re.sub(r"^[A-Z]+: ", "", sentence)
            assert re.fullmatch(r"\w+(,? \w+)*\.", text)
            assert text[0].isupper()
            assert text[1:] == text[1:].lower()


def test_the_vectorizer_sees_the_same_words():
    recipe = RECIPES["usual"]
    seen = TfidfVectorizer().fit([record.text for record in SOME[: recipe.n_train]]).vocabulary_
    assert len(seen) == recipe.n_words
    assert {"background", "methods", "results", "conclusions"} < set(seen)
    foreign = [word for word in seen if not word.isascii()]
    assert len(foreign) > 10
    assert any("é" in word for word in foreign)
    assert any(word[0] in "αβγδκλω" for word in foreign)


def test_the_same_recipe_gives_the_same_records():
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    recipe = RECIPES["usual"]
    assert list(generate(recipe)) == SOME
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002
    assert list(generate(replace(recipe, seed=1))) != SOME
    two = zip(generate(recipe), generate(recipe), strict=True)
    assert all(one == other for one, other in two)


def test_training_records_do_not_depend_on_how_many_test_records_there_are():
    recipe = RECIPES["usual"]
    without = list(generate(replace(recipe, n_test=0)))
    assert without == SOME[: recipe.n_train]


def test_records_are_generated_lazily():
    first = list(itertools.islice(generate(replace(SMALL, n_train=5_000_000)), 10))
    assert len(first) == 10


def test_terms_are_spread_as_in_mesh(small):
    counts = Counter(term for record in small for term in record.mesh)
    shares = {term: count / len(small) for term, count in counts.items()}
    assert 11 < sum(counts.values()) / len(small) < 13
    assert 0.6 < shares["Humans"] < 0.8
    for tag in ("Animals", "Female", "Male", "Adult", "Middle Aged"):
        assert 0.1 < shares[tag] < 0.5
    tail = sorted(counts.values(), reverse=True)[6:]
    assert 0.02 < tail[0] / len(small) < 0.1
    assert np.median(tail) <= 10
    assert tail[-1] <= 3
    women = [record for record in small if "Female" in record.mesh]
    assert np.mean(["Humans" in record.mesh for record in women]) > 0.99


def test_texts_are_as_in_medline(small):
    lengths = [len(TOKENS(record.text)) for record in small]
    assert 100 < np.mean(lengths) < 120
    assert 0.03 < np.mean([not record.abstract for record in small]) < 0.07
    structured = [r.abstract for r in small if r.abstract.startswith("BACKGROUND: ")]
    assert 0.2 < len(structured) / len(small) < 0.4
    for abstract in structured:
        labels = [line.split(": ")[0] for line in abstract.split("\n")]
        assert labels == ["BACKGROUND", "METHODS", "RESULTS", "CONCLUSIONS"]


def test_the_word_of_a_term_is_in_its_records(small):
    counts = Counter(term for record in small for term in record.mesh)
    terms = [term for term, _ in counts.most_common() if " " not in term][6:]
    texts = [set(TOKENS(record.text)) for record in small]

    def share(term, among):
        return np.mean([term.lower() in texts[i] for i in among])

    for term in terms[:3]:
        with_it = [i for i, record in enumerate(small) if term in record.mesh]
        assert share(term, with_it) > 0.4
        assert share(term, range(len(small))) < 0.1
    rare = [term for term in terms if counts[term] < 4]
    found = [
        term.lower() in texts[i]
        for i, record in enumerate(small)
        for term in set(rare) & set(record.mesh)
    ]
    assert np.mean(found) > 0.4


def test_the_paper_s_sizes():
    assert (PAPER.n_train, PAPER.n_labels, PAPER.n_words) == (100_000, 26_853, 188_923)


def recipe(**changes):
    sizes = {"n_train": 100, "n_test": 10, "n_labels": 50, "n_words": 1000} | changes
    return lambda _folder: Recipe(**sizes)


def writing(name, *records, **options):
    return lambda folder: write_records(records, folder / name, **options)


def with_text(title="A title.", abstract="", mesh=()):
    return Record("123", title, abstract, tuple(mesh))


# What is wrong, the call, the error, and what its message must say.
BAD = [
    ("no training", recipe(n_train=0), ValueError, r"n_train must be a whole number.*got 0"),
    ("half a record", recipe(n_train=1.5), ValueError, r"n_train must be.*got 1\.5"),
    ("fewer than none", recipe(n_test=-1), ValueError, r"n_test must be.*from 0.*got -1"),
    ("no labels", recipe(n_labels=0), ValueError, r"n_labels must be.*got 0"),
    ("no words", recipe(n_words=0), ValueError, r"n_words must be.*got 0"),
    ("a word for a number", recipe(n_words="10"), ValueError, r"n_words must be.*got '10'"),
    ("too many words", recipe(n_words=10**9), ValueError, r"n_words must be.*10,000,000.*got 10"),
    ("a seed below 0", recipe(seed=-1), ValueError, r"seed must be.*got -1"),
    ("no seed", recipe(seed=None), ValueError, r"seed must be.*got None"),
    ("empty records", recipe(words_per_record=0), ValueError, r"words_per_record must.*got 0"),
    ("no term", recipe(labels_per_record=0), ValueError, r"labels_per_record must.*got 0"),
    ("NaN", recipe(labels_per_record=float("nan")), ValueError, r"labels_per_record.*got nan"),
    ("True", recipe(labels_per_record=True), ValueError, r"labels_per_record.*got True"),
    ("text", recipe(labels_per_record="12"), ValueError, r"labels_per_record.*got '12'"),
    (
        "labels without a place",
        recipe(n_labels=1201),
        ValueError,
        r"n_labels must be at most n_train times labels_per_record.*1,201.*100 times 12",
    ),
    (
        "words without a place",
        recipe(n_words=11_001),
        ValueError,
        r"n_words must be at most n_train times words_per_record.*11,001.*100 times 110",
    ),
    ("no such format", writing("a.csv"), ValueError, r"path must end in '.xml'.*got '.*a\.csv'"),
    ("no suffix", writing("records"), ValueError, r"path must end in.*'.jsonl.gz'; got"),
    ("zipped", writing("a.xml.zip"), ValueError, r"path must end in.*got '.*a\.xml\.zip'"),
    ("no folder", writing("b/a.xml"), FileNotFoundError, r"there is no folder"),
    ("there already", writing("old.xml", overwrite=False), FileExistsError, r"already exists"),
    ("a zero", writing("a.xml", with_text("A\0.")), ValueError, r"XML 1\.0.*'123'.*'\\x00'"),
    ("in terms", writing("a.xml", with_text(mesh=["\x1f"])), ValueError, r"'123' contains '\\x1f'"),
    (
        "a noncharacter",
        writing("a.xml", with_text("\uffff")),
        ValueError,
        r"'123' contains '\\uffff'",
    ),
    ("half a pair", writing("a.xml", with_text("\ud800")), ValueError, r"'123' contains '\\ud800'"),
    ("in JSON", writing("a.jsonl", with_text("\ud800")), ValueError, r"UTF-8.*'123'.*'\\ud800'"),
]


@pytest.mark.parametrize(
    ("call", "error", "words"), [row[1:] for row in BAD], ids=[r[0] for r in BAD]
)
def test_wrong_recipes_and_records_are_refused(call, error, words, tmp_path):
    (tmp_path / "old.xml").write_text("old")
    with pytest.raises(error, match=words):
        call(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["old.xml"]
    assert (tmp_path / "old.xml").read_text() == "old"


def test_whole_floats_are_whole_numbers():
    assert Recipe(1e2, 10.0, np.int64(50), 1e3) == Recipe(100, 10, 50, 1000)


# Texts that XML could lose.
ODD = [
    Record("1", "Less < more & more > less.", "", ()),
    Record("2", "Ends ]]> \"quoted\" 'so'.", "One line.\nAnother line.", ("A & B", "C <D>")),
    Record("3", "Αλφα β é \U0001d6fc\u2028\x85.", "DNA: a molecule.", ("Ménière Disease",), 2),
    Record("4", "", 'A "B" & C: x < y.\nUNLABELLED: z.\nMETHODS: Twice: said.', ("X",)),
    Record("5", "No label.", "Background: it is not in capitals.\nRESULTS:\nRESULTS:none", ("X",)),
]


def parsed(root):
    """Records of PubMed's XML, read in the most obvious way."""
    for citation in root.iterfind("PubmedArticle/MedlineCitation"):
        parts = [
            f"{part.get('Label')}: {part.text}" if part.get("Label") else part.text
            for part in citation.iterfind("Article/Abstract/AbstractText")
        ]
        yield Record(
            citation.findtext("PMID"),
            citation.findtext("Article/ArticleTitle"),
            "\n".join(parts),
            tuple(name.text for name in citation.iterfind(".//MeshHeading/DescriptorName")),
            int(citation.find("PMID").get("Version")),
        )


@pytest.mark.parametrize("name", ["a.xml", "a.xml.gz", "A.XML"])
def test_xml_holds_the_records(name, tmp_path):
    write_records(iter(SOME + ODD), tmp_path / name)
    data = (tmp_path / name).read_bytes()
    text = (gzip.decompress(data) if name.endswith(".gz") else data).decode()
    root = ET.fromstring(text.encode())
    assert root.tag == "PubmedArticleSet"
    assert list(parsed(root)) == SOME + ODD
    assert text.startswith(
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE PubmedArticleSet PUBLIC'
    )
    assert '"-//NLM//DTD PubMedArticle, 1st January 2025//EN" "https://dtd.nlm.nih.gov/' in text


def test_xml_is_as_pubmed_serves_it(tmp_path):
    write_records(SOME, tmp_path / "a.xml")
    root = ET.parse(tmp_path / "a.xml").getroot()
    for citation in root.iterfind("PubmedArticle/MedlineCitation"):
        assert citation.get("Status") == "MEDLINE"
        article = citation.find("Article")
        tags = [child.tag for child in article if child.tag != "Abstract"]
        assert tags == ["Journal", "ArticleTitle", "Pagination", "Language", "PublicationTypeList"]
        assert article.find("Abstract") is None or len(article.find("Abstract"))
    names = list(root.iter("DescriptorName"))
    assert all(name.get("MajorTopicYN") == "N" for name in names)
    identifiers = {(name.text, name.get("UI")) for name in names}
    assert len(identifiers) == len({name.text for name in names})
    assert len(identifiers) == len({name.get("UI") for name in names})
    assert all(re.fullmatch(r"D\d{12}", name.get("UI")) for name in names)


def test_json_lines_hold_the_records(tmp_path):
    write_records(SOME + ODD, tmp_path / "a.jsonl")
    lines = (tmp_path / "a.jsonl").read_bytes().decode().removesuffix("\n").split("\n")
    rows = [json.loads(line) for line in lines]
    assert all(list(row) == ["pmid", "title", "abstract", "mesh"] for row in rows)
    read = [Record(*row.values()) for row in rows]
    expected = [record._replace(mesh=list(record.mesh), version=1) for record in SOME + ODD]
    assert read == expected
    assert "Ménière" in lines[-3]


@pytest.mark.parametrize("name", ["a.xml", "a.xml.gz", "a.jsonl", "a.jsonl.gz"])
def test_what_is_written_can_be_read(name, tmp_path):
    records = SOME + [record._replace(version=1) for record in ODD]
    write_records(records, tmp_path / name)
    assert list(read_records(tmp_path / name)) == records


@pytest.mark.parametrize("suffix", [".xml.gz", ".jsonl.gz"])
def test_the_same_records_give_the_same_bytes(suffix, tmp_path):
    write_records(SOME, tmp_path / f"one{suffix}")
    write_records(iter(SOME), tmp_path / f"two{suffix}")
    data = (tmp_path / f"one{suffix}").read_bytes()
    assert data == (tmp_path / f"two{suffix}").read_bytes()
    assert data[3:8] == bytes(5)  # neither a name nor a time


@pytest.mark.parametrize("name", ["a.xml", "a.jsonl.gz"])
def test_nothing_is_written_if_records_end_in_an_error(name, tmp_path):
    def broken():
        yield SOME[0]
        raise RuntimeError("no more")

    write_records(SOME[:3], tmp_path / name)
    before = (tmp_path / name).read_bytes()
    with pytest.raises(RuntimeError, match="no more"):
        write_records(broken(), tmp_path / name)
    assert (tmp_path / name).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_no_records_are_an_empty_set(tmp_path):
    write_records([], tmp_path / "a.xml")
    assert len(ET.parse(tmp_path / "a.xml").getroot()) == 0
    assert list(read_records(tmp_path / "a.xml")) == []
