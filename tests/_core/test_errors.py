"""Messages that name arguments: as Python spells them, and as another interface does."""

import pickle
import re
import warnings

import pytest

import halfmax as hm
from halfmax._core.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileKeptError,
    HalfmaxWarning,
    OptimismWarning,
    in_python,
    respelled,
    setting,
    warn,
)

SPELLINGS = {"per_label=False": "--shared", "guard": "--guard"}
MESSAGE = f"{in_python('guard')} needs more; use {setting('per_label', False)} or {{braces}}"
PLAIN = "guard needs more; use per_label=False or {braces}"
KINDS = [
    (ArgumentError, ValueError),
    (ArgumentTypeError, TypeError),
    (FileKeptError, FileExistsError),
    (HalfmaxWarning, UserWarning),
    (OptimismWarning, UserWarning),
]


def spell(spelling):
    return SPELLINGS[spelling]


@pytest.mark.parametrize(("kind", "base"), KINDS, ids=lambda kind: kind.__name__)
def test_a_message_has_two_spellings(kind, base):
    error = kind(MESSAGE)
    for one in (error, pickle.loads(pickle.dumps(error))):
        assert isinstance(one, base)
        assert type(one) is kind
        assert str(one) == PLAIN
        assert one.args == (PLAIN,)
        assert one.argument == "guard"
        assert one.worded(spell) == "--guard needs more; use --shared or {braces}"


def test_the_argument_is_the_first_one_that_is_named():
    assert ArgumentError(f"{in_python('diagnose()')} and {setting('level', 2)}").argument == "level"
    assert ArgumentError("nothing is named").argument is None
    assert ArgumentError().argument is None


def test_values_are_never_taken_for_arguments():
    message = f"{in_python('guard')} must be known; got {'guard per_label=False {guard}'!r}"
    assert respelled(message, spell) == (
        "--guard must be known; got 'guard per_label=False {guard}'"
    )


def test_a_warning_carries_its_arguments_and_points_to_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn(MESSAGE, OptimismWarning)
    (one,) = caught
    assert one.category is OptimismWarning
    assert str(one.message) == PLAIN
    assert one.message.worded(spell).startswith("--guard needs more")
    assert one.filename == __file__


CALLS = {
    "guard": lambda: hm.tune([0, 1], [0.0, 1.0], guard="x"),
    "average": lambda: hm.tune([[0, 1]], [[0.0, 1.0]], average="x"),
    "metric": lambda: hm.score([0, 1], [0, 1], metric="x"),
    "zero_division": lambda: hm.score([0, 1], [0, 1], zero_division=2),
    "y_true": lambda: hm.tune([0, 1, 2], [0.0, 1.0, 2.0]),
    "y_score": lambda: hm.tune([0, 1], [0.0, float("nan")]),
    "y_prob": lambda: hm.decide([0.5, 2.0]),
    "sample_weight": lambda: hm.tune([0, 1], [0.0, 1.0], sample_weight=[1]),
    "labels": lambda: hm.tune([0, 1], [0.0, 1.0], labels=["a", "b"]),
    "per_label": lambda: hm.tune([0, 1], [0.0, 1.0], per_label=2),
    "min_k": lambda: hm.decide([0.5], min_k=-1),
    "beta": lambda: hm.FBeta(0),
    "n_resamples": lambda: hm.assess([0, 1], [0.0, 1.0], n_resamples=0),
    "progress": lambda: hm.decide([0.5], progress="yes"),
}


@pytest.mark.parametrize(("argument", "call"), CALLS.items(), ids=list(CALLS))
def test_an_error_knows_its_argument(argument, call):
    with pytest.raises((ArgumentError, ArgumentTypeError)) as caught:
        call()
    assert caught.value.argument == argument
    assert str(caught.value).startswith(argument)
    assert not re.search(r"[\x00-\x1f]", str(caught.value))
