"""A small table, ways to spoil it, and how its errors are checked."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import halfmax as hm
from halfmax._core.errors import ArgumentError, ArgumentTypeError

NAN, INF = float("nan"), float("inf")
COLUMNS = {
    "instance": [1, 1, 2, 2],
    "label": ["a", "b", "a", "b"],
    "score": [0.1, 0.9, 0.8, 0.3],
    "truth": [0, 1, 1, 0],
    "weight": [1.0, 1.0, 2.0, 2.0],
}
TABLE = pa.table(COLUMNS)
T = hm.tune_table(TABLE)


def table(**columns):
    """The table with some columns changed, or left out if they are None."""
    whole = COLUMNS | columns
    return pa.table({name: values for name, values in whole.items() if values is not None})


def frame(**columns):
    return pd.DataFrame(COLUMNS | columns)


def tune(source=TABLE, **how):
    return lambda: hm.tune_table(source, **how)


def assess(source=TABLE, **how):
    return lambda: hm.assess_table(source, **how)


def apply(thresholds=T, source=TABLE, *out, **how):
    return lambda: hm.apply_table(thresholds, source, *out, **how)


def decide(source=TABLE, *out, **how):
    how = {"probability": "score", **how}
    return lambda: hm.decide_table(source, *out, **how)


def check(call, error, message):
    with pytest.raises(error, match=message) as caught:
        call()
    assert type(caught.value) in (error, ArgumentError, ArgumentTypeError)  # none of pyarrow
    assert "\n" not in str(caught.value)


# Files.


def write(folder, *tables, **how):
    for number, one in enumerate(tables):
        pq.write_table(one, folder / f"{number}.parquet", **how)
    return folder


def other(number, **columns):
    """A table of other instances."""
    return table(instance=[2 * number, 2 * number, 2 * number + 1, 2 * number + 1], **columns)
