"""Small labelled scores of every awkward kind."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from halfmax._core.compiled import variant

LEVELS = (-np.inf, -1.0, -0.0, 0.0, 0.25, 0.5, 1.0)
METRICS = ("f1", "f0.5", "f2", "f0.7", "f1.1", "jaccard", "accuracy", "precision", "recall")
FLOATS = (np.float16, np.float32, np.float64)
INTEGERS = (np.int8, np.int64, np.uint8)

AWKWARD = (0.0, 1.0, 0.5, 0.25, 0.1, 1 / 3, 1e-9, 1e-200, 1e-310, 5e-324, 1 - 2**-53, 0.5 + 2**-53)

compiled = pytest.mark.skipif(
    variant() == "python", reason="too many items for kernels that run as plain Python"
)


def at_most(examples: int) -> settings:
    """For tests whose examples cost much: so many, or fewer if the profile wants fewer."""
    return settings(max_examples=min(examples, settings().max_examples))


metrics = st.sampled_from(METRICS)
zero_divisions = st.sampled_from([0.0, 1.0])
shares_of_nothing = st.sampled_from([0.0, 1.0, 0.5])
floors = st.sampled_from([None, 0.0, 0.25, 0.5, 2 / 3, 0.9, 1.0])
limits_on_rows = st.sampled_from([None, 1, 2, 3, 5, 0.1, 0.25, 0.5, 0.9])


@st.composite
def restrictions(draw: Any) -> dict[str, Any]:
    """Floors and a cap, most of them absent."""
    names = ("min_precision", "min_recall", "min_specificity")
    found: dict[str, Any] = {name: draw(st.none() | floors) for name in names}
    return found | {"max_predicted": draw(limits_on_rows)}


averages = st.sampled_from(["macro", "micro", "samples"])


class Case(NamedTuple):
    """Truth, scores and weights."""

    y: Any
    s: Any
    w: Any

    @property
    def rows(self) -> int:
        return len(self.s)


def _elements(dtype: Any) -> st.SearchStrategy[Any]:
    if np.dtype(dtype).kind in "iu":
        return hnp.from_dtype(np.dtype(dtype))
    width: Any = np.dtype(dtype).itemsize * 8
    any_finite = st.floats(width=width, allow_nan=False, allow_infinity=False)
    return any_finite | st.just(-np.inf) | st.just(-0.0)


@st.composite
def scores(draw: Any, shape: tuple[int, ...], dtypes: Any = FLOATS + INTEGERS) -> Any:
    dtype = draw(st.sampled_from(dtypes))
    kind = draw(st.sampled_from(["ties", "ties", "any", "narrow", "constant"]))
    if np.dtype(dtype).kind in "iu" and kind != "any":
        return draw(hnp.arrays(dtype, shape, elements=st.integers(0, 3), fill=st.nothing()))
    if kind == "ties":
        level = st.sampled_from(LEVELS)
        return draw(hnp.arrays(dtype, shape, elements=level, fill=st.nothing()))
    if kind == "any":
        return draw(hnp.arrays(dtype, shape, elements=_elements(dtype), fill=st.nothing()))
    if kind == "narrow":  # neighbouring floats around one number
        steps = draw(hnp.arrays(np.int64, shape, elements=st.integers(0, 5), fill=st.nothing()))
        start = np.array(draw(st.sampled_from([0.3, 1.0, -2.5])), dtype)
        return (start + steps * np.spacing(start)).astype(dtype)
    return np.full(shape, draw(_elements(dtype)), dtype)


@st.composite
def truths(draw: Any, shape: tuple[int, ...]) -> Any:
    dtype = draw(st.sampled_from([np.int8, np.bool_, np.int64, np.float32]))
    kind = draw(st.sampled_from(["any"] * 6 + ["none", "all"]))
    if kind == "any":
        bits = hnp.arrays(np.int8, shape, elements=st.integers(0, 1), fill=st.nothing())
        return draw(bits).astype(dtype)
    return np.full(shape, kind == "all", dtype)


@st.composite
def weights(draw: Any, size: int, kinds: Any = ("none", "whole", "real")) -> Any:
    kind = draw(st.sampled_from(kinds))
    if kind == "none":
        return None
    one = st.integers(0, 4) if kind == "whole" else st.just(0.0) | st.floats(0.01, 10.0)
    values = draw(st.lists(one, min_size=size, max_size=size).filter(any))
    dtypes = [np.int64, np.float64] if kind == "whole" else [np.float64]
    return np.array(values, draw(st.sampled_from(dtypes)))


def layouts(values: Any) -> list[Any]:
    """The same numbers: as they are, in Fortran order, and as every other row of a larger array."""
    padded = np.zeros((2 * len(values), *values.shape[1:]), values.dtype)
    padded[::2] = values
    return [values, np.asfortranarray(values), padded[::2]]


@st.composite
def _case(draw: Any, shape: tuple[int, ...], dtypes: Any, kinds: Any) -> Case:
    s = draw(st.sampled_from(layouts(draw(scores(shape, dtypes)))))
    return Case(draw(truths(shape)), s, draw(weights(shape[0], kinds)))


@st.composite
def one_classifier(
    draw: Any,
    most_rows: int = 16,
    dtypes: Any = FLOATS + INTEGERS,
    kinds: Any = ("none", "whole", "real"),
) -> Case:
    return draw(_case((draw(st.integers(1, most_rows)),), dtypes, kinds))


@st.composite
def many_labels(
    draw: Any,
    most_rows: int = 7,
    most_labels: int = 4,
    dtypes: Any = FLOATS + INTEGERS,
    kinds: Any = ("none", "whole", "real"),
) -> Case:
    shape = draw(st.integers(1, most_rows)), draw(st.integers(1, most_labels))
    return draw(_case(shape, dtypes, kinds))


def to_sparse(s: Any, form: str = "csr", keep: Any = None) -> Any:
    """The same scores without the -inf entries, but for those to keep."""
    dense = np.array(s, np.float32 if s.dtype in (np.float16, np.float32) else np.float64)
    stored = dense > -np.inf
    if keep is not None:
        stored |= keep
    row, column = np.nonzero(stored)
    entries = sparse.coo_array((dense[row, column], (row, column)), shape=dense.shape)
    return entries.asformat(form)


forms = st.sampled_from(["csr", "csc", "coo"])


@st.composite
def probabilities(draw: Any, shape: Any) -> Any:
    """Exact 0 and 1, ties, neighbouring floats, subnormals, and ordinary ones."""
    kind = draw(st.sampled_from(["mixed", "mixed", "ties", "any", "narrow", "constant", "small"]))
    of_kind: dict[str, Any] = {
        "mixed": st.sampled_from(AWKWARD) | st.floats(0.0, 1.0),
        "ties": st.sampled_from([0.0, 0.2, 0.5, 1.0]),
        "any": st.floats(0.0, 1.0),
        "narrow": st.integers(-3, 3).map(lambda step: 0.3 + step * 2**-54),
        "constant": st.just(draw(st.sampled_from(AWKWARD) | st.floats(0.0, 1.0))),
        "small": st.floats(0.0, 1e-6),
    }
    p = draw(hnp.arrays(np.float64, shape, elements=of_kind[kind], fill=st.nothing()))
    return p.astype(draw(st.sampled_from([np.float64, np.float64, np.float32])))


WHOLE_TYPES = (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint32(), pa.uint64())
TEXT_TYPES = (pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string()))


class Long(NamedTuple):
    """A long table in any order of rows, and the matrix that it was made of, its ids in order."""

    table: pa.Table
    y: Any
    s: Any  # sparse where pairs are missing
    w: Any
    labels: list[Any]
    instances: list[Any]

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """(label, score, truth, weight), as Python knows them."""
        columns = self.table.to_pydict()
        weights = columns.get("weight", [1] * self.table.num_rows)
        truth = [int(value) for value in columns["truth"]]
        scores = [float(value) for value in columns["score"]]
        return list(zip(columns["label"], scores, truth, weights, strict=True))


@st.composite
def ids(draw: Any, size: int) -> pa.Array:
    """Different ids of one type, in any order."""
    if draw(st.booleans()):
        kind = draw(st.sampled_from(WHOLE_TYPES))
        most = (1 << (kind.bit_width - 1)) - 1
        lowest = -most - 1 if pa.types.is_signed_integer(kind) else 0
        some = st.integers(lowest, most) | st.sampled_from([lowest, 0, 7, most])
    else:
        kind = draw(st.sampled_from(TEXT_TYPES))
        some = st.text('aB7 é\n,"', max_size=3) | st.sampled_from(["7", "07", "NA", "ﬁ", "🐈"])
    values = draw(st.lists(some, min_size=size, max_size=size, unique=True))
    if pa.types.is_dictionary(kind):  # with a value that is never used
        return pa.DictionaryArray.from_arrays(pa.array(range(size), pa.int8()), [*values, "unused"])
    return pa.array(values, kind)


@st.composite
def long_tables(
    draw: Any, missing: bool = False, kinds: Any = ("none", "whole"), most_rows: int = 7
) -> Long:
    """Every pair of some instances and labels, or with `missing` only some of them."""
    case = draw(many_labels(most_rows, kinds=kinds))
    shape = case.s.shape
    there = np.ones(shape, np.bool_)
    if missing:
        there = draw(hnp.arrays(np.bool_, shape).filter(np.any))
    rows, labels = (np.flatnonzero(there.any(axis)) for axis in (1, 0))
    there = there[np.ix_(rows, labels)]
    y, s = (np.ascontiguousarray(part[np.ix_(rows, labels)]) for part in (case.y, case.s))
    w = None if case.w is None else case.w[rows]
    if w is not None and not w.any():
        w = None
    names, instances = draw(ids(len(labels))), draw(ids(len(rows)))
    i, j = np.transpose(draw(st.permutations(np.argwhere(there).tolist())))
    table = {
        "instance": instances.take(pa.array(i)),
        "label": names.take(pa.array(j)),
        "score": s[i, j],
        "truth": y[i, j],
    }
    if w is not None:
        table["weight"] = w[i]
    order, down = (
        sorted(range(len(one)), key=one.to_pylist().__getitem__) for one in (names, instances)
    )
    y, s, there = (part[np.ix_(down, order)] for part in (y, s, there))
    w = None if w is None else w[down]
    if missing:
        row, column = np.nonzero(there)
        kept = s[row, column].astype(np.float32 if s.dtype == np.float16 else s.dtype)
        s = sparse.csr_array((kept, (row, column)), shape=s.shape)
        y = np.where(there, y, 0)
    return Long(pa.table(table), y, s, w, *(sorted(one.to_pylist()) for one in (names, instances)))
