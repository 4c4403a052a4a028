"""From records to tags: the fitted tagger, compared with scikit-learn and brute force."""

import naive_mesh
import numpy as np
import pytest
from mesh_cases import (
    AVERAGES,
    RANK,
    TOPICS,
    as_bytes,
    find,
    learned,
    outputs_of,
    ridge_of,
    scores_of,
    terms_of,
    write_some,
)
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

import halfmax as hm
from halfmax._core.limits import changed
from halfmax.mesh.model import fit
from halfmax.mesh.model.fit import fit_tagger, left_out_outputs, tune_left_out
from halfmax.mesh.model.settings import Settings
from halfmax.mesh.model.tagger import Tag
from halfmax.mesh.rules.rule import MeshRule
from halfmax.mesh.stages import (
    Stages,
)

pytestmark = pytest.mark.kernels


def test_the_model_is_scikit_learns(corpus, fitted):
    texts, mesh = learned(corpus)
    counts = naive_mesh.counts(mesh)
    y = np.array(naive_mesh.truth(mesh, list(counts)))
    vectorizer = TfidfVectorizer(sublinear_tf=True, dtype=np.float32)
    svd = TruncatedSVD(RANK, random_state=0)
    factors = svd.fit_transform(vectorizer.fit_transform(texts))
    model = naive_mesh.fit_ridge(factors, y, fitted.penalties)
    new = ["heart failure", "aspirin and liver enzymes", "", "unheard of"]
    for some in (texts, new):
        expected = model.predict(svd.transform(vectorizer.transform(some)).astype(np.float64))
        assert np.allclose(scores_of(fitted, some), np.clip(expected, 0.0, 1.0), atol=1e-5)
    assert fitted.terms == list(counts)
    assert fitted.counts.tolist() == list(counts.values())
    assert fitted.n_documents == len(texts)
    assert repr(fitted) == (
        f"Tagger({len(counts)} terms, {len(fitted.words.vocabulary)} words, rank {RANK}, "
        f"fitted on {len(texts)} documents)"
    )


def test_thresholds_are_tuned_on_outputs_without_the_document(corpus, fitted):
    texts, mesh = learned(corpus)
    y = np.array(naive_mesh.truth(mesh, fitted.terms))
    made = left_out_outputs(ridge_of(fitted.factors(texts), y), fitted.penalties).whole()
    for average in AVERAGES:
        expected = hm.tune(y, made, average=average, guard="auto").thresholds
        assert np.allclose(fitted.thresholds[average], expected, rtol=1e-3)


def test_thresholds_are_tuned_on_as_many_documents_as_fit():
    rng = np.random.default_rng(8)
    p = rng.random((50, 4)).astype(np.float32)
    y = sparse.csr_array((rng.random((50, 4)) < p).astype(np.float64))
    expected = hm.tune(y, p, average="micro").thresholds
    assert np.array_equal(tune_left_out(outputs_of(p), y, "micro", None, 0), expected)
    rows = np.sort(np.random.default_rng(3).permutation(50)[:20])
    expected = hm.tune(y[rows], p[rows], average="micro").thresholds
    with changed(tuned_scores=4 * 20):
        assert np.array_equal(tune_left_out(outputs_of(p), y, "micro", None, 3), expected)
    with changed(tuned_scores=1):
        assert tune_left_out(outputs_of(p), y, "micro", None, 3).shape == (4,)


@pytest.mark.parametrize("average", ["macro", "micro", "samples", "instance"])
@pytest.mark.parametrize("rule", ["auto", "plug-in"])
def test_tags_are_what_the_rule_predicts(corpus, fitted, average, rule):
    texts = [*corpus.texts()][:25]
    scores = scores_of(fitted, texts)
    name = "samples" if average == "instance" else average
    chosen = MeshRule("", fitted.thresholds[name])
    if rule == "plug-in":
        chosen = find(scores).rule(name, "")
    predicted = naive_mesh.predictions(scores, chosen.of_labels, chosen.of_documents)
    tags = fitted.tag(iter(texts), average, rule)
    assert len(tags) == len(texts)
    for row, chosen_terms, own in zip(tags, predicted, scores, strict=True):
        expected = [j for j in range(len(own)) if chosen_terms[j]]
        expected.sort(key=lambda j: (-own[j], j))
        assert row == [Tag(fitted.terms[j], pytest.approx(own[j], abs=1e-6)) for j in expected]
        assert all(type(tag.score) is float for tag in row)


def test_tags_find_the_topics(fitted):
    for term, words in TOPICS.items():
        [row] = fitted.tag([f"We study {words}"])
        assert {term} <= {tag.term for tag in row} <= {term, "Humans"}


def test_plug_in_tags_depend_on_the_batch(fitted):
    """Alone, a text gets every term of positive probability; among others only exceptional ones."""
    text, others = "heart failure", ["aspirin dose", "bone fracture", "liver bile", "heart beat"]
    [alone] = terms_of(fitted.tag([text], "macro", "plug-in"))
    beside = terms_of(fitted.tag([text, *others], "macro", "plug-in"))[0]
    [scores] = scores_of(fitted, [text])
    assert set(alone) == {fitted.terms[j] for j in np.flatnonzero(scores > 0.0)}
    assert set(beside) < set(alone)
    assert "Heart" in beside


@pytest.mark.parametrize(
    ("average", "rule"), [(a, "auto") for a in AVERAGES] + [("samples", "plug-in")]
)
def test_other_tags_do_not_depend_on_the_batch(corpus, fitted, average, rule):
    texts = [*corpus.texts()][:12]
    together = fitted.tag(texts, average, rule)
    with changed(output_block_entries=1, texts_at_once=5):
        assert terms_of(fitted.tag(texts, average, rule)) == terms_of(together)
        alone = [fitted.tag([text], average, rule)[0] for text in texts]
    assert terms_of(alone) == terms_of(together)
    assert any(together)
    for one, other in zip(alone, together, strict=True):
        pairs = zip(one, other, strict=True)
        assert all(a.score == pytest.approx(b.score, abs=1e-6) for a, b in pairs)


@pytest.mark.parametrize("rule", ["auto", "plug-in"])
@pytest.mark.parametrize("average", AVERAGES)
def test_few_texts_or_none(fitted, average, rule):
    assert fitted.tag([], average, rule) == []
    assert len(fitted.tag(["", "unheard"], average, rule)) == 2


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        ({"texts": "heart failure"}, TypeError, "texts must be a list .* 'heart failure'"),
        ({"texts": ["x"], "average": "binary"}, ValueError, "average must be .* got 'binary'"),
        ({"texts": ["x"], "rule": "best"}, ValueError, "rule must be 'auto' or 'plug-in'; got"),
        ({"texts": ["x"], "progress": 3}, TypeError, "progress must be True .* got 3"),
    ],
)
def test_wrong_calls_of_tag_are_refused(fitted, call, error, words):
    with pytest.raises(error, match=words):
        fitted.tag(**call)


def test_progress_of_tags_counts_the_texts(fitted):
    reported = []
    fitted.tag(["heart", "bone"], "macro", "plug-in", progress=lambda *of: reported.append(of))
    assert reported[0] == (2, 0)  # the number of texts is not known in advance
    assert reported[-1] == (2, 2)


def test_stages_of_fitting(tmp_path, corpus, monkeypatch):
    cuts = np.full(6, 0.25)
    monkeypatch.setattr(fit, "tune_left_out", lambda *_: cuts)  # the slow part

    def run(**kwargs):
        stages = Stages(tmp_path)
        model = fit_tagger(corpus, Settings(**{"rank": RANK} | kwargs), stages)
        names = [stage.name.split()[0] for stage in stages.done]
        assert names == ["words", "factors", "penalties", "thresholds"]
        return model, [stage.reused for stage in stages.done]

    first, made = run()
    assert made == [False] * 4
    again, made = run()
    assert made == [True] * 4
    assert as_bytes(first) == as_bytes(again) == as_bytes(fit_tagger(corpus, Settings(rank=RANK)))
    assert run(penalty=3.5)[1] == [True, True, False, False]
    assert run(min_count=3)[1] == [True, True, False, False]
    assert run(rank=3)[1] == [True, False, False, False]
    assert run(seed=3)[1] == [True, False, False, False]
    assert run(max_words=20)[1] == [False] * 4


def test_settings_are_followed(corpus):
    _, mesh = learned(corpus)
    model = fit_tagger(corpus, Settings(penalty=2.5, min_count=3, max_words=10))
    assert model.terms == [name for name, count in naive_mesh.counts(mesh).items() if count >= 3]
    assert "Rare" not in model.terms
    assert set(model.penalties) == {2.5}
    assert len(model.words.vocabulary) == 10
    assert model.offset.shape == (9,)
    assert len(set(fit_tagger(corpus).penalties)) == 1


@pytest.mark.parametrize(
    ("texts", "mesh", "chosen", "words"),
    [
        (
            ["cat dog"] * 5,
            (),
            {},
            "at least 3 records with MeSH terms are needed; got 0 among 5 records",
        ),
        (
            ["cat dog"] * 2,
            ("A",),
            {},
            "at least 3 records with MeSH terms are needed; got 2 among 2",
        ),
        ([], (), {}, "got 0 among 0 records"),
        (["cat dog"] * 5, ("A",), {"min_count": 6}, "at least 6 of the 5 .* one occurs in 5"),
        (["cat dog"] * 5, ("A",), {"rank": 2}, r"rank must be below .* \(2\); got 2"),
        (["cat dog rat"] * 3, ("A",), {"rank": 3}, r"documents \(3\) and of words \(3\); got 3"),
        (["a b", "", "!"], ("A",), {}, "must have words; they have none"),
        (["cat", "", "cat"], ("A",), {}, "at least two different words; they have 1"),
        (["cat", "dog", "rat"], ("A",), {"penalty": 1e-30}, "penalty must be larger"),
    ],
)
def test_records_that_cannot_be_learned_from(tmp_path, texts, mesh, chosen, words):
    with pytest.raises(ValueError, match=words):
        fit_tagger(write_some(tmp_path, texts, mesh), Settings(**chosen))


@pytest.mark.parametrize("penalty", ["shared", "per-label", 1e-3, 1e9])
@pytest.mark.parametrize("texts", [["cat dog"] * 4, ["cat dog", "dog rat", "rat"]])
def test_few_documents_and_texts_that_are_all_the_same(tmp_path, texts, penalty):
    model = fit_tagger(write_some(tmp_path, texts), Settings(penalty=penalty))
    assert np.allclose(scores_of(model, [*texts, ""]), 1.0, atol=1e-5)
    assert len(model.tag(texts)) == len(texts)
