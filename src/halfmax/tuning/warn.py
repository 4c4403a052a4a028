"""A tuned answer that will disappoint says so itself: flooded labels, and a score that flatters."""

import warnings
from collections.abc import Callable

import numpy as np

from halfmax._core.errors import HalfmaxWarning, OptimismWarning
from halfmax._core.text import spell_out
from halfmax._core.types import Array
from halfmax.metrics.average import mean_of_known
from halfmax.metrics.counts import Counts
from halfmax.metrics.goal import Guard
from halfmax.metrics.objective import Objective
from halfmax.staircase import leave_one_out
from halfmax.staircase.leave_one_out import PLENTY, of_each_label
from halfmax.staircase.stable_order import keys_of_labels
from halfmax.staircase.staircase import Staircase
from halfmax.tuning.exact.choose import Choice
from halfmax.tuning.thresholds import Thresholds

_TELLING = 20  # rows; fewer may be what they are by chance
_TOO_MUCH = 0.2  # of the score
_SAMPLE = 1 << 12  # labels; enough to know their mean
_NOTHING = {  # guard: why nothing is predicted, and what to do
    "never": (
        "guard='never' drops labels that flood or that are not shown to be better than predicting "
        "everyone, and here it drops all of them",
        "use more rows or guard='auto'; diagnose() says more",
    ),
    "auto": (
        "with so few rows or positives guard='auto' finds no threshold that will not flood",
        "use more rows, or guard='smooth', which may flood; diagnose() says more",
    ),
    None: (
        "no positive has a score above -inf",
        "check that y_true and y_score belong together, and what the classifier scores",
    ),
}


def warn_of_curse(
    objective: Objective,
    choice: Choice,
    tuned: Thresholds,
    guard: Guard | None,
    n_rows: int,
    stairs: Staircase | Callable[[], Staircase] | None,
) -> None:
    """Warn the caller of `tune` once, with the numbers and the remedy.

    `stairs` are those of rows without weights, or give them where the choice does not.
    """
    if n_rows < _TELLING:
        return
    flooded = np.flatnonzero(choice.counts.floods())
    news = [_of_flood(choice, tuned, flooded)] if len(flooded) else []
    apart = tuned.average == "binary" or (tuned.average == "macro" and not tuned.shared)
    if stairs is not None and guard is None and apart and not objective.floors:
        news += _of_optimism(stairs, objective, choice, tuned)
    if not news:
        return
    warnings.warn(f"{'; '.join(news)}. {_remedy(tuned, objective)}", OptimismWarning, stacklevel=4)


def warn_of_nothing(
    objective: Objective, choice: Choice, tuned: Thresholds, guard: Guard | None, n_rows: int
) -> None:
    """Warn the caller of `tune` if no label is ever predicted though there are positives.

    Where floors forbid it that has been said; some metrics, such as accuracy, may be best so.
    """
    if n_rows < _TELLING or choice.counts.predicted.any() or not choice.counts.positives.any():
        return
    name = None if guard is None else guard.name
    if objective.floors or (tuned.score > 0 and name != "never"):
        return
    why, what = _NOTHING.get(name, _NOTHING[None])
    warnings.warn(
        f"these thresholds predict nothing at all, though there are positives: {why}; {what}",
        HalfmaxWarning,
        stacklevel=4,
    )


def _remedy(tuned: Thresholds, objective: Objective) -> str:
    if tuned.shared and tuned.average != "binary":
        return "One threshold for each label with guard='auto' floods no label"
    but = ", though without floors" if objective.floors else ""
    return f"guard='auto' gives thresholds that hold on new data{but}; diagnose() tells more"


def _of_flood(choice: Choice, tuned: Thresholds, flooded: Array) -> str:
    what = "more than 5 % of the rows tuned on and more than 10 times the base rate"
    if tuned.average == "binary":
        _, predicted, positives, total = (part[0] for part in choice.counts)
        return (
            f"{predicted:,.0f} of {total:,.0f} rows are predicted where {positives:,.0f} are "
            f"positive: {what}"
        )
    names = tuned.labels or range(len(tuned.thresholds))
    worst = flooded[np.argsort(-choice.counts.predicted[flooded], kind="stable")]
    some = spell_out([names[j] for j in worst], most=3)
    verb = "is" if len(flooded) == 1 else "are"
    return f"{len(flooded):,} of {len(names):,} labels {verb} predicted for {what} ({some})"


def _of_optimism(
    stairs: Staircase | Callable[[], Staircase],
    objective: Objective,
    choice: Choice,
    tuned: Thresholds,
) -> list[str]:
    score = tuned.score
    few = (choice.counts.positives > 0) & (choice.counts.positives <= PLENTY)
    if not few.any() or not score > 0 or _cannot_lose_much(objective, tuned, few):
        return []
    known = choice.stairs or (stairs() if callable(stairs) else stairs)
    expected = _expected_at_most(known, objective, choice, tuned, np.flatnonzero(few))
    if not score - expected > _TOO_MUCH * score:
        return []
    closer = (
        "a quick estimate; assess() gives a closer one"
        if tuned.average == "binary"
        else f"only labels with fewer than {PLENTY:.0f} positives are corrected for "
        "luck here; assess() corrects all of them"
    )
    return [
        f"these thresholds reach {score:.3f} on the rows they were tuned on; expect at most about "
        f"{expected:.3f} on new ones ({closer})"
    ]


def _cannot_lose_much(objective: Objective, tuned: Thresholds, few: Array) -> bool:
    """Whether all that labels with few positives reach could be lost without a word."""
    if objective.zero_division != 0.0 or not objective.metric.is_share_of_hits:
        return False
    part = leave_one_out.part_of_bootstrap(tuned.support[few])
    lost = ((1.0 - part) * tuned.label_scores[few]).sum() / len(tuned.label_scores)
    return bool(lost <= _TOO_MUCH * tuned.score)


def _expected_at_most(
    stairs: Staircase, objective: Objective, choice: Choice, tuned: Thresholds, few: Array
) -> float:
    """What `assess` would expect if the bootstrap, which takes time, saw no optimism."""
    some = few
    if len(few) > _SAMPLE:
        some = few[np.argsort(keys_of_labels(stairs.of_labels(few)), kind="stable")[:_SAMPLE]]
    positives = choice.counts.positives
    left = of_each_label(stairs.of_labels(some), objective, PLENTY + 1, positives).expected
    alone = tuned.average == "binary"
    expected = tuned.label_scores.copy()
    judged = leave_one_out.mixed(positives[some], expected[some], left, alone)
    if len(some) < len(few):
        judged = np.full(len(few), mean_of_known(judged))
    expected[few] = judged
    if not alone:
        counts = choice.counts.positives, choice.counts.predicted
        expected = leave_one_out.with_empty_labels(objective, *counts, expected)
    return min(mean_of_known(expected), tuned.score)


def warn_below_floors(objective: Objective, choice: Choice, tuned: Thresholds) -> None:
    """Say where nothing satisfies the floors, so that nobody is predicted."""
    counts = choice.counts
    if tuned.average == "micro":
        counts = Counts(*(part.sum(keepdims=True) for part in counts))
    below = np.flatnonzero(np.isneginf(objective(*counts))) if objective.floors else ()
    if not len(below):
        return
    floors = " and ".join(f"min_{part.name}={floor:g}" for part, floor in objective.floors)
    size = len(tuned.thresholds)
    if len(counts[0]) == 1:
        certain = tuned.average == "binary" or len(objective.floors) == 1
        who = "no threshold satisfies" if certain else "found no thresholds that satisfy"
    else:
        names = tuned.labels or range(size)
        some = spell_out([names[j] for j in below], most=5)
        who = f"{len(below)} of {size} labels ({some}) cannot satisfy"
    warnings.warn(f"{who} {floors}: there nobody is predicted", HalfmaxWarning, stacklevel=4)
