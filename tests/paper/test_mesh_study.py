"""The case study: the files written, the rare terms, and continuing after an interruption."""

import csv
import json
import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pages import Page
from strategies import compiled
from surroundings import SHARED_DATA

from halfmax.cli import screens
from halfmax.mesh.model.fit import assemble, learn_documents, left_out_outputs, tune_left_out
from halfmax.mesh.model.outputs import Outputs
from halfmax.mesh.model.ridge import Ridge
from halfmax.mesh.model.settings import Settings
from halfmax.mesh.model.terms import truth_of
from halfmax.mesh.records.corpus import gather
from halfmax.mesh.records.generator import Recipe
from halfmax.mesh.rules.evaluate import codes_of
from halfmax.mesh.rules.half_max import find_half_max
from halfmax.mesh.rules.judge import MANY, are_rare, judge
from halfmax.mesh.rules.rule import MeshRule
from halfmax.mesh.stages import Stages
from halfmax.paper.mesh import study
from halfmax.paper.mesh.flatness import flattest, spread_of
from halfmax.paper.mesh.sheets import Sheet, sheets
from halfmax.paper.mesh.terms import rank_terms
from halfmax.paper.mesh.write import reproduce_mesh

MEDLINE = Path(os.environ.get("HALFMAX_DATA", SHARED_DATA)) / "medline"
real = pytest.mark.skipif(not MEDLINE.is_dir(), reason=f"there are no MEDLINE records in {MEDLINE}")

TINY = Recipe(1_000, 100, 600, 2_000)
SETTINGS = Settings(rank=20)
WRITTEN = {
    "mesh.html",
    "mesh.md",
    "mesh.json",
    "mesh-terms.csv",
    *(f"{name}.{kind}" for name in ("mesh-flatness", "mesh-penalty") for kind in ("png", "svg")),
}


@pytest.fixture(scope="module", autouse=True)
def tiny():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(study.SCALES, "small", TINY)
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    work = tmp_path_factory.mktemp("work")
    page, found = reproduce_mesh(folder, settings=SETTINGS, stages=Stages(work))
    return folder, work, page, found


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@compiled
def test_the_study_is_written_and_nothing_else(made):
    folder, _, path, found = made
    assert {file.name for file in folder.iterdir()} == WRITTEN
    page = Page(path)
    assert set(page.files) <= WRITTEN
    assert all(sheet.title in page.words for sheet in sheets(found))
    assert len(page.images) == 2
    assert all(image["alt"] for image in page.images)


@compiled
def test_headings_say_that_records_are_synthetic(made):
    folder, _, path, found = made
    assert found.title == "Synthetic records tagged with made-up terms"
    page = path.read_text("utf-8")
    assert f"<title>{found.title}: the paper" in page
    assert f"<h1>{found.title}: the paper" in page
    tables = (folder / "mesh.md").read_text("utf-8")
    head = f"# {found.title}: the paper's case study\n\nFrom synthetic records, scale 'small'"
    assert tables.startswith(head)
    assert not re.search("MEDLINE|MeSH", page + tables)
    assert screens.studied(found)[0].startswith("Records: synthetic records, ")
    assert replace(found, synthetic=False).title == "MEDLINE tagged with MeSH terms"


@compiled
def test_the_numbers_are_written_for_other_programs(made):
    folder, _, _, found = made
    summary = json.loads((folder / "mesh.json").read_text("utf-8"))
    assert summary["synthetic"] is True
    assert summary["terms"] == len(found.terms) == TINY.n_labels
    assert summary["words"] == TINY.n_words
    assert (summary["training documents"], summary["held-out documents"]) == (1000, 100)
    assert summary["rules"]["shared"]["auto micro"]["micro"] == pytest.approx(
        found.by_penalty["shared"].judged["auto micro"].micro
    )
    with (folder / "mesh-terms.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["term"] for row in rows] == found.terms
    assert [int(row["positives"]) for row in rows] == found.counts.tolist()


@compiled
def test_stages_done_before_are_found_and_change_nothing(made, tmp_path):
    folder, work, _, found = made
    _, again = reproduce_mesh(tmp_path, settings=SETTINGS, stages=Stages(work))
    assert not any(stage.reused for stage in found.stages)
    assert all(stage.reused for stage in again.stages)
    timed = ("mesh.html", "mesh.md", "mesh.json")  # hold how long it took
    before, after = contents(folder), contents(tmp_path)
    assert all(before[name] == after[name] for name in WRITTEN if name not in timed)


@compiled
def test_other_settings_in_the_same_folder_find_only_what_they_share(made):
    _, work, _, _ = made
    tuned = {"auto macro": ("macro", None)}  # quicker, and makes no difference here

    def reused(**changed):
        stages = Stages(work)
        study.run_study(None, "small", Settings(**{"rank": 20, **changed}), stages, tuned=tuned)
        return [stage.name for stage in stages.done if stage.reused]

    shared = ["records", "words", "factors", "held-out documents"]
    assert reused(min_count=5) == shared
    assert reused(rank=10) == shared[:2]
    assert reused(seed=1) == []


@compiled
def test_the_tables_rank_terms_by_how_often_they_are_predicted(made):
    *_, found = made
    for penalty, outcome in found.by_penalty.items():
        for average in ("macro", "micro", "samples"):
            ranking = rank_terms(found, penalty, average)
            judged = outcome.judged[f"plug-in {average}"]
            counts = [row.predicted for row in ranking]
            assert counts == sorted(counts, reverse=True)
            assert counts[0] == judged.predicted.max()
            for row in ranking:
                j = found.terms.index(row.name)
                assert row.predicted == judged.predicted[j]
                assert row.threshold == pytest.approx(row.best / 2)
                assert row.rare == (found.counts[j] < found.n_train / 100)
            last = ranking[-1]
            assert last.rank + last.left_out == sum(1 + row.left_out for row in ranking)


def test_markdown_shows_terms_as_they_are():
    sheet = Sheet(
        "rules", "A | b", ["term", "n"], [["<b>*x*</b> | y", "1"], ["z", "2"]], frozenset([1])
    )
    assert sheet.markdown().splitlines()[2:] == [
        "| term | n |",
        "| --- | ---: |",
        r"| \<b\>\*x\*\</b\> \| y | 1 |",
        "| **z** | **2** |",
    ]


def test_an_unknown_scale_is_refused(tmp_path):
    with pytest.raises(ValueError, match="scale must be 'small' or 'paper'; got 'huge'"):
        reproduce_mesh(tmp_path, scale="huge")
    assert not (tmp_path / "mesh.html").exists()


@compiled
def test_records_without_rare_terms_have_pictures_too(tmp_path):
    records = tmp_path / "records.jsonl"
    lines = [
        {"pmid": i, "title": f"word{i % 7} and word{i % 3}", "mesh": [f"Term {i % 3}"]}
        for i in range(30)
    ]
    records.write_text("\n".join(map(json.dumps, lines)))
    _, found = reproduce_mesh(tmp_path / "out", [str(records)])
    assert not found.rare.any()
    summary = (tmp_path / "out" / "mesh.json").read_text("utf-8")
    json.loads(summary, parse_constant=pytest.fail)  # NaN is no JSON
    assert {file.name for file in (tmp_path / "out").iterdir()} >= WRITTEN


def test_too_few_records_are_refused(tmp_path):
    records = tmp_path / "few.jsonl"
    records.write_text('{"pmid": 1, "title": "One", "mesh": ["Humans"]}\n{"pmid": 2, "title": "x"}')
    with pytest.raises(
        ValueError, match=r"at least 5 records with MeSH terms are needed.*got 1 among 2"
    ):
        reproduce_mesh(tmp_path / "out", [str(records)])


@compiled
def test_spread_is_the_standard_deviation_over_the_mean():
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(50, 3)).astype(np.float32)
    weights = rng.normal(size=(3, 7)).astype(np.float32) * 0.01
    outputs = Outputs(factors, weights, np.linspace(0.0, 0.6, 7, dtype=np.float32))
    p = outputs.whole().astype(float)
    assert spread_of(outputs) == pytest.approx(p.std(axis=0) / p.mean(axis=0), rel=1e-6)


def test_normal_outputs_as_flat_as_that_are_predicted_for_a_third():
    from scipy import stats

    z = stats.norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    for rate in (1e-4, 1e-2, 0.1):
        p = rate * (1.0 + float(flattest(np.array(rate))) * z)
        f1 = 2.0 * np.cumsum(p[::-1]) / (p.sum() + np.arange(1, len(p) + 1))
        assert np.mean(p >= f1.max() / 2) == pytest.approx(MANY, abs=2e-3)


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """Real records: the terms, a ridge, held-out factors and truth."""
    corpus = gather([MEDLINE], tmp_path_factory.mktemp("real") / "records")
    rows = np.random.default_rng(0).permutation(corpus.with_mesh)
    test, train = np.sort(rows[:1032]), np.sort(rows[1032:])
    documents = learn_documents(corpus, train, Settings(), Stages(None), None)
    ridge = Ridge.of(documents.factors, documents.truth)
    headings = corpus.headings()
    truth = truth_of(headings, test, codes_of(headings, documents.terms))
    model = assemble(documents, ridge, np.ones(len(documents.terms)), {})
    counts = np.bincount(documents.truth.indices, minlength=len(documents.terms))
    return ridge, model.factors(corpus.texts(test)), truth, are_rare(counts, len(train))


@pytest.fixture(scope="module")
def errors(records):
    return records[0].compare()


def judged_on(records, penalties):
    ridge, factors, truth, _ = records
    weights, rates = ridge.weights(penalties), ridge.rates
    outputs = Outputs(factors, weights.astype(np.float32), rates.astype(np.float32))
    rules = [find_half_max(outputs).rule(average, average) for average in ("macro", "micro")]
    cuts = tune_left_out(left_out_outputs(ridge, penalties), ridge.truth, "macro", "auto", 0)
    return outputs, judge(outputs, truth, [*rules, MeshRule("auto", cuts)])


@real
@compiled
def test_one_penalty_lets_no_rare_term_flood(records, errors):
    _, (macro, micro, auto) = judged_on(records, records[0].pick("shared", errors))
    rare = records[3]
    assert macro.flooding(rare) == micro.flooding(rare) == auto.flooding(rare) == 0
    assert micro.micro > 0.45
    assert macro.macro > 2 * micro.macro


@real
@compiled
def test_a_penalty_per_term_lets_thousands_flood_unless_guarded(records, errors):
    outputs, (macro, micro, auto) = judged_on(records, records[0].pick("per-label", errors))
    rare = records[3]
    assert macro.flooding(rare) > 2000
    assert micro.flooding(rare) == auto.flooding(rare) == 0
    assert auto.micro > 50 * macro.micro
    assert auto.macro > 0.9 * macro.macro
    # How flat is flat enough: a third is predicted iff the mean excess over that cut is small.
    p = outputs.whole().astype(float)
    cut = -np.sort(-p, axis=0)[int(MANY * len(p))]
    excess, room = np.maximum(p - cut, 0.0).mean(axis=0), p.mean(axis=0) * cut
    clear = np.abs(excess - room) > 1e-9 * room
    assert np.array_equal((macro.shares > MANY)[clear], (excess < room)[clear])
