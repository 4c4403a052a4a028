import io
import re
from contextlib import redirect_stdout

import pytest

from halfmax.cli import demonstration


@pytest.fixture(scope="module")
def printed():
    with redirect_stdout(io.StringIO()) as out:
        demonstration.main()
    return out.getvalue()


def test_the_demo_shows_every_average_and_what_changed(printed):
    for column in ("threshold", "F1", "precision", "recall", "support", "predicted"):
        assert column in printed
    changes = re.findall(r"Against 0\.5: (.*F1) ([\d.]+) -> ([\d.]+), [\d,]+ of", printed)
    assert [name for name, *_ in changes] == ["F1", "macro F1", "micro F1", "per-instance F1"]
    assert all(float(after) > float(before) for _, before, after in changes)


def test_the_label_without_signal_floods_macro_and_vanishes_in_micro(printed):
    lines = printed.split("every 97th", 1)[1].splitlines()
    macro, micro = (int(line.split()[-1]) for line in lines[:2])
    assert macro > 800
    assert micro == 0


def test_rare_labels_keep_their_promise_with_the_guard_and_not_without(printed):
    part = printed.split("Rare labels", 1)[1].split("No labels", 1)[0]
    cells = [line.split() for line in part.splitlines() if line.startswith(("None", "'auto'"))]
    rows = {name: values for name, *values in cells}
    here, flooded_here, expected, kept, flooded, *_ = rows["None"]
    assert float(here) > 1.3 * float(kept)
    assert abs(float(expected) - float(kept)) < 0.15 * float(kept)
    assert int(flooded) > 10
    assert f"warned: {flooded_here} of 146 labels" in part  # of the same rows, one number
    guarded, flooded_here, kept_by_guard, flooded, *_ = rows["'auto'"]
    assert float(kept_by_guard) > float(kept)
    assert abs(float(guarded) - float(kept_by_guard)) < 0.15 * float(kept_by_guard)
    assert flooded_here == flooded == "0"
    assert "guard='auto'" in part.split("warned:")[1]


def test_decisions_without_labels_do_about_as_well_as_expected(printed):
    rows = printed.split("No labels", 1)[1]
    found = re.findall(r"(\S+ F1) +[\d,]+ +([\d.]+) +([\d.]+) +([\d.]+)", rows)
    assert [name for name, *_ in found] == ["macro F1", "micro F1", "per-instance F1"]
    for _, expected, truth, at_half in found:
        assert abs(float(truth) - float(expected)) < 0.06
        assert float(truth) > float(at_half)
