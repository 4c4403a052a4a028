"""Staircases and grids: counts at every step, and parts that add up."""

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import FLOATS, forms, many_labels, one_classifier, to_sparse

import halfmax as hm
from halfmax._core.compiled import variant
from halfmax._core.limits import changed

pytestmark = pytest.mark.kernels

small_blocks = st.fixed_dictionaries(
    {
        "count_block_rows": st.sampled_from([1, 3, 1 << 16]),
        "count_block_entries": st.sampled_from([1, 4, 1 << 20]),
        "count_blocks": st.sampled_from([1, 2, 8, 100]),
        "few_steps": st.sampled_from([0, 2, 64]),
        "grid_long_segment": st.sampled_from([0, 2, 1 << 12]),
        "tile_labels": st.sampled_from([1, 2, 64]),
        "tile_rows": st.sampled_from([1, 3, 1024]),
        "cached_steps": st.sampled_from([0, 1 << 17]),
        "chunk_entries": st.sampled_from([1, 3, 1 << 22]),
        "label_block_bits": st.sampled_from([1, 7]),
        "grid_block_labels": st.sampled_from([1, 2, 1 << 16]),
    }
)


def build(y, s, w=None, limits=None, **kwargs):
    with changed(**(limits or {})):
        return hm.Staircase.of(y, s, w, **kwargs)


def steps_of(stairs, j):
    steps = slice(*stairs.grid.offsets[j : j + 2])
    columns = stairs.thresholds[steps], stairs.true_positives[steps], stairs.predicted[steps]
    return list(zip(*(part.tolist() for part in columns), strict=True))


def assert_equals_naive(stairs, y, s, w):
    y, s = np.asarray(y, int), np.asarray(s)
    y, s = y.reshape(len(y), -1), s.reshape(len(s), -1)
    total = sum(naive.exact_weights(w, len(y)))
    assert len(stairs) == stairs.n_labels == y.shape[1]
    for j in range(y.shape[1]):
        expected = naive.staircase(y[:, j], s[:, j], w)
        got = steps_of(stairs, j)
        assert [step[0] for step in got] == [step[0] for step in expected]
        tolerance = 0.0 if naive.ties_are_exact("f1", w) else 1e-12
        assert np.allclose(got, np.array(expected, float), rtol=tolerance, atol=tolerance)
        positives = naive.confusion(y[:, j], y[:, j], w)[0]
        assert float(positives) == pytest.approx(stairs.positives[j], rel=1e-12)
        assert float(total) == pytest.approx(stairs.total[j], rel=1e-12)


@given(many_labels(most_rows=12), small_blocks)
def test_steps_of_many_labels(case, limits):
    assert_equals_naive(build(*case, limits), *case)


@given(one_classifier(most_rows=25), small_blocks)
def test_steps_of_one_classifier(case, limits):
    assert_equals_naive(build(*case, limits), *case)


@given(many_labels(most_rows=12, dtypes=FLOATS), small_blocks, forms)
def test_steps_of_sparse_scores(case, limits, form):
    assert_equals_naive(build(case.y, to_sparse(case.s, form), case.w, limits), *case)


@given(many_labels())
def test_counts_are_whole_unless_there_are_weights(case):
    stairs = build(*case)
    kind = np.int64 if case.w is None else np.float64
    for part in (stairs.true_positives, stairs.predicted, stairs.positives, stairs.total):
        assert part.dtype == kind


def united(parts):
    grid = None
    for y, s, _ in parts:
        grid = hm.Grid.of(y, s) if grid is None else grid | hm.Grid.of(y, s)
    return grid


def assert_same(one, other):
    assert one.grid.equals(other.grid)
    for name in ("true_positives", "predicted", "positives", "total"):
        a, b = getattr(one, name), getattr(other, name)
        assert a.dtype == b.dtype
        assert np.allclose(a, b, rtol=1e-12, atol=1e-12)


@given(many_labels(most_rows=10), st.data())
def test_parts_add_up_to_the_whole(case, data):
    n_parts = data.draw(st.integers(1, 4))
    part_of = np.array(data.draw(st.lists(st.integers(0, n_parts - 1), min_size=10, max_size=10)))
    parts = []
    for k in range(n_parts):
        rows = np.flatnonzero(part_of[: case.rows] == k)
        if case.w is not None and not case.w[rows].any():
            rows = np.array([], int)
        if len(rows):
            parts.append((case.y[rows], case.s[rows], None if case.w is None else case.w[rows]))
    grid = united(parts)
    first, *rest = [hm.Staircase.of(*part, grid=grid) for part in parts]
    total = first
    for stairs in rest:
        total = total + stairs
    y, s = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    w = None if case.w is None else np.concatenate([part[2] for part in parts])
    assert_same(total, build(y, s, w, grid=grid))
    assert_same(total, build(y, s, w))


@given(many_labels(dtypes=FLOATS), st.booleans())
def test_sparse_and_dense_parts_add_up(case, sparse_first):
    cut = max(1, case.rows // 2)
    if case.w is not None and not (case.w[:cut].any() and case.w[cut:].any()):
        case = case._replace(w=None)
    grid = hm.Grid.of(case.y, case.s)
    total = None
    for place, rows in enumerate((slice(cut), slice(cut, None))):
        if not len(case.y[rows]):
            continue
        s = case.s[rows]
        s = to_sparse(s) if (place == 0) == sparse_first else s
        w = None if case.w is None else case.w[rows]
        stairs = hm.Staircase.of(case.y[rows], s, w, grid=grid)
        total = stairs if total is None else total + stairs
    assert_same(total, build(*case))


@given(many_labels(most_labels=3), st.booleans())
def test_one_label_of_many(case, named):
    labels = [f"label {j}" for j in range(case.y.shape[1])] if named else None
    stairs = hm.Staircase.of(*case, labels=labels)
    for j in range(case.y.shape[1]):
        one = stairs[labels[j] if named else j]
        assert_equals_naive(one, case.y[:, j], case.s[:, j], case.w)
        assert one.labels == ((labels[j],) if named else None)


def test_unknown_labels_are_key_errors():
    stairs = hm.Staircase.of([[1, 0], [0, 1]], [[0.9, 0.1], [0.2, 0.8]])
    named = hm.Staircase.of([[1], [0]], [[0.9], [0.2]], labels=["cat"])
    for some, label in ((stairs, 2), (stairs, -1), (stairs, "cat"), (named, 0), (named, "dog")):
        with pytest.raises(KeyError, match="no label"):
            some[label]


def test_different_grids_do_not_add():
    one, other = hm.Staircase.of([1, 0], [0.9, 0.1]), hm.Staircase.of([1, 0], [0.8, 0.1])
    with pytest.raises(ValueError, match="same grid"):
        one + other


def test_different_labels_do_not_add():
    one, other = (hm.Staircase.of([[1], [0]], [[0.9], [0.1]], labels=[name]) for name in "ab")
    with pytest.raises(ValueError, match="same labels"):
        one + other


def test_grids_of_different_widths_do_not_unite():
    with pytest.raises(ValueError, match="number of labels"):
        hm.Grid.of([[1]], [[0.5]]) | hm.Grid.of([[1, 1]], [[0.5, 0.5]])


def test_subclasses_build_their_own_class(tmp_path):
    own_grid, own_stairs = type("OwnGrid", (hm.Grid,), {}), type("OwnStairs", (hm.Staircase,), {})
    assert type(own_grid.of([0, 1], [0.2, 0.3])) is own_grid
    assert type(own_stairs.of([0, 1], [0.2, 0.3])) is own_stairs
    own = type("OwnThresholds", (hm.Thresholds,), {})
    hm.tune([0, 1], [0.2, 0.3]).save(tmp_path / "t.json")
    assert type(own.load(tmp_path / "t.json")) is own


def test_a_grid_of_another_width_is_refused():
    grid = hm.Grid.of([[1]], [[0.5]])
    with pytest.raises(ValueError, match="grid must have"):
        hm.Staircase.of([[1, 1]], [[0.5, 0.5]], grid=grid)


def test_staircases_add_only_to_staircases():
    with pytest.raises(TypeError):
        hm.Staircase.of([1, 0], [0.9, 0.1]) + 1
    with pytest.raises(TypeError):
        hm.Grid.of([1, 0], [0.9, 0.1]) | 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_finer_grid_counts_coarse_scores_exactly(dtype):
    grid = hm.Grid.of([1, 1], np.array([0.1, 0.3]))
    s = np.array([0.1, 0.3, 0.2], dtype)
    stairs = hm.Staircase.of([1, 0, 1], s, grid=grid)
    expected = [int((s.astype(float) >= step).sum()) for step in stairs.thresholds]
    assert stairs.thresholds.tolist() == [0.3, 0.1]
    assert stairs.predicted.tolist() == expected


def counted(y, s, w):
    """Thresholds, true positives and predicted of all labels, label after label."""
    columns = []
    for j in range(y.shape[1]):
        steps = np.unique(s[y[:, j] == 1, j])[::-1]
        above = s[:, j] >= steps[:, None]
        columns.append((steps, (above & (y[:, j] == 1)) @ w, above @ w))
    return [np.concatenate(part) for part in zip(*columns, strict=True)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_sizes_beyond_every_tile(weighted, dtype, kind):
    n, m, tiles = 2500, 130, {}
    if variant() == "python":  # smaller, because kernels are slow then
        n, m, tiles = 90, 13, {"tile_rows": 32, "tile_labels": 4}
    rng = np.random.default_rng(3)
    s = np.round(rng.normal(size=(n, m)), 2).astype(dtype)
    y = (rng.random((n, m)) < np.linspace(0.0, 0.2, m)).astype(np.int8)
    w = rng.integers(0, 4, n) if weighted else None
    stairs = build(y, to_sparse(s) if kind == "sparse" else s, w, tiles)
    expected = counted(y, s, np.ones(n, int) if w is None else w)
    assert np.array_equal(stairs.thresholds, expected[0].astype(float))
    assert np.array_equal(stairs.true_positives, expected[1])
    assert np.array_equal(stairs.predicted, expected[2])


@settings(max_examples=2 * settings().max_examples)
@given(many_labels(dtypes=FLOATS), small_blocks)
def test_staircases_leave_inputs_unchanged(case, limits):
    before = [None if part is None else part.tobytes() for part in case]
    build(*case, limits)
    assert before == [None if part is None else part.tobytes() for part in case]
