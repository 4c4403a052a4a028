"""What a tagger reaches on records whose terms are known."""

import numpy as np
import pytest
from mesh_cases import AVERAGES, RANK, learned, outputs_of, scores_of, terms_of, write_some
from threadpoolctl import threadpool_limits

from halfmax.mesh.model.fit import fit_tagger, left_out_outputs
from halfmax.mesh.model.ridge import Ridge
from halfmax.mesh.model.settings import Settings
from halfmax.mesh.model.terms import frequent_terms, truth_of
from halfmax.mesh.rules.evaluate import evaluate, rules_of
from halfmax.mesh.rules.half_max import find_half_max

pytestmark = pytest.mark.kernels


def test_evaluation_counts_what_tags_say(fitted, unseen):
    found = evaluate(fitted, unseen)
    texts, mesh = learned(unseen)
    known = [[term for term in terms if term in fitted.terms] for terms in mesh]
    assert found.tagger is fitted
    assert found.n_documents == len(texts)
    assert found.n_seen == 0
    assert found.n_headings == sum(map(len, mesh))
    assert found.n_unknown == found.n_headings - sum(map(len, known)) == 3
    names = [f"{rule} {average}" for rule in ("plug-in", "auto") for average in AVERAGES]
    assert [one.rule.name for one in found.judged] == ["0.5", *names]
    for one in found.judged:
        assert one.positives.tolist() == [sum(t in row for row in known) for t in fitted.terms]
        assert one.positives_of_documents.tolist() == [len(row) for row in known]
        if one.rule.name == "0.5":
            assert one.predicted.tolist() == (scores_of(fitted, texts) >= 0.5).sum(axis=0).tolist()
            continue
        rule, average = one.rule.name.split()
        tags = terms_of(fitted.tag(texts, average, rule))
        assert one.predicted_of_documents.tolist() == [len(row) for row in tags]
        assert one.predicted.tolist() == [sum(t in row for row in tags) for t in fitted.terms]
        hits = [len({*row} & {*own}) for row, own in zip(tags, known, strict=True)]
        assert one.hits_of_documents.tolist() == hits
        assert one.hits.sum() == sum(hits)


def test_the_model_does_not_depend_on_the_number_of_threads(tmp_path, corpus):
    for threads in (1, 2):
        with threadpool_limits(threads):
            fit_tagger(corpus, Settings(rank=RANK)).save(tmp_path / str(threads))
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_plug_in_rules_of_left_out_outputs(corpus):
    headings = corpus.headings()
    rows = corpus.with_mesh
    truth = truth_of(headings, rows, frequent_terms(headings, rows, 1))
    rng = np.random.default_rng(0)
    ridge = Ridge.of(rng.normal(size=(len(rows), 4)), truth)
    outputs = left_out_outputs(ridge, ridge.choose("per-label"))
    best = find_half_max(outputs)
    again = find_half_max(outputs_of(outputs.whole()))
    assert best.of_labels == pytest.approx(again.of_labels, rel=1e-6)
    assert best.of_documents == pytest.approx(again.of_documents, rel=1e-6)
    assert best.of_all == pytest.approx(again.of_all, rel=1e-6)


def test_records_that_it_was_fitted_on_are_counted(fitted, corpus):
    assert evaluate(fitted, corpus).n_seen == fitted.n_documents == len(corpus.with_mesh)


def test_the_tagger_is_better_than_a_half_on_records_like_those_it_saw(fitted, unseen):
    judged = {one.rule.name: one for one in evaluate(fitted, unseen).judged}
    assert judged["auto micro"].micro >= judged["0.5"].micro - 0.05
    assert judged["auto micro"].micro > 0.7


def test_rules_of_a_batch_are_those_that_tag_uses(fitted):
    made = fitted.outputs(fitted.factors(["heart", "bone density"]))
    rules = {rule.name: rule for rule in rules_of(fitted, made)}
    for average in AVERAGES:
        expected = fitted.rule(made, average, "plug-in")
        for got, want in zip(rules[f"plug-in {average}"][1:], expected[1:], strict=True):
            assert np.array_equal(got, want)
        assert rules[f"auto {average}"].of_labels is fitted.thresholds[average]


def test_records_without_terms_cannot_be_evaluated_on(tmp_path, fitted):
    some = write_some(tmp_path, ["heart", "bone"], ())
    with pytest.raises(ValueError, match="none of the 2 records has MeSH terms to compare with"):
        evaluate(fitted, some)
