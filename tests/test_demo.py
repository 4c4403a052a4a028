import re

import numba

from halfmax import _jit, demo


def test_the_demo_shows_every_average_and_what_changed(capsys):
    demo.main()
    printed = capsys.readouterr().out
    for column in ("threshold", "F1", "precision", "recall", "support", "predicted"):
        assert column in printed
    changes = re.findall(r"Against 0\.5: (.*F1) ([\d.]+) -> ([\d.]+), [\d,]+ of", printed)
    assert [name for name, *_ in changes] == ["F1", "macro F1", "micro F1", "per-instance F1"]
    assert all(float(after) > float(before) for _, before, after in changes)


def test_the_label_without_signal_floods_macro_and_vanishes_in_micro(capsys):
    demo.main()
    lines = capsys.readouterr().out.split("every 97th", 1)[1].splitlines()
    macro, micro = (int(line.split()[-1]) for line in lines[:2])
    assert macro > 800
    assert micro == 0


def test_decisions_without_labels_do_about_as_well_as_expected(capsys):
    demo.main()
    rows = capsys.readouterr().out.split("No labels", 1)[1]
    found = re.findall(r"(\S+ F1) +[\d,]+ +([\d.]+) +([\d.]+) +([\d.]+)", rows)
    assert [name for name, *_ in found] == ["macro F1", "micro F1", "per-instance F1"]
    for _, expected, truth, at_half in found:
        assert abs(float(truth) - float(expected)) < 0.06
        assert float(truth) > float(at_half)


def test_kernels_compile_where_nothing_can_be_cached(monkeypatch):
    compile_kernel = numba.njit

    def njit(function, **options):
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return compile_kernel(function, **options)

    monkeypatch.setattr(numba, "njit", njit)
    assert _jit.kernel(lambda x: x + 1)(2) == 3
