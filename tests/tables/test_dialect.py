"""CSV of spreadsheets: semicolons or tabs between cells, commas before decimals."""

import gzip

import pandas as pd
import pytest

import halfmax as hm
from halfmax.tables.files import dialect_of

FRAME = pd.DataFrame(
    {
        "label": ["a", "b; c", "a", "b; c"] * 3,
        "score": [0.5, -1.25, 1e-3, 12.0] * 3,
        "truth": [1, 0, 0, 1] * 3,
        "price": ["1,50", "2,25", "0", "7"] * 3,
    }
)
FORMS = {
    "commas": {},
    "semicolons": {"sep": ";"},
    "decimal commas": {"sep": ";", "decimal": ","},
    "tabs": {"sep": "\t"},
    "all in quotes": {"sep": ";", "decimal": ",", "quoting": 1},
    "with a byte order mark": {"sep": ";", "decimal": ",", "encoding": "utf-8-sig"},
    "lines of Windows": {"sep": ";", "lineterminator": "\r\n"},
}


@pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))
@pytest.mark.parametrize("packed", [False, True])
def test_every_dialect_holds_the_same_table(tmp_path, form, packed):
    path = tmp_path / "t.csv"
    FRAME.to_csv(path, index=False, **form)
    if packed:
        path = tmp_path / "t.csv.gz"
        path.write_bytes(gzip.compress((tmp_path / "t.csv").read_bytes()))
    found, expected = hm.tune_table(path), hm.tune_table(FRAME)
    assert found.labels == expected.labels
    assert found.thresholds.tolist() == expected.thresholds.tolist()
    applied = hm.apply_table(expected, path)
    assert applied["predicted"].to_pylist() == hm.apply_table(expected, FRAME)["predicted"].tolist()
    assert applied["price"].to_pylist() == FRAME["price"].tolist()  # as it was written


@pytest.mark.parametrize(
    ("text", "delimiter", "decimal"),
    [
        ("a,b\n1,2\n", ",", "."),
        ("a,b;c\n1,2\n", ",", "."),
        ("a;b\n1;2\n", ";", "."),
        ("a;b\n1;2,5\n", ";", ","),
        ("a;b\n1;-,5e-3\n", ";", ","),
        ("a;b\n1;1,2,3\n", ";", "."),  # no number
        ("a;b\n1;2,5\n0.5;1\n", ";", "."),  # the other number shows what points are
        ("a;b\n1;x,5\n", ";", "."),
        ("a;b\n", ";", "."),
        ('"a,b";c\n1;2\n', ";", "."),
        ("a\tb\n1\t2,5\n", "\t", "."),
        ("a;b\n1,2\n", ",", "."),  # the row after the head has none
        ("a;b\n1\n", ",", "."),
        ("a\n1\n", ",", "."),
        ("", ",", "."),
    ],
)
def test_the_first_lines_show_the_dialect(tmp_path, text, delimiter, decimal):
    (tmp_path / "t.csv").write_text(text)
    assert dialect_of(str(tmp_path / "t.csv")) == (delimiter, decimal)
    (tmp_path / "t.tsv").write_text(text)
    assert dialect_of(str(tmp_path / "t.tsv")) == ("\t", ".")
