"""A tuned answer that will disappoint says so itself: flooded labels, and a score that flatters."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from halfmax._errors import OptimismWarning, spell_out
from halfmax._options import Guard
from halfmax.choosing import Choice
from halfmax.label_health import floods
from halfmax.leave_one_out import MANY, of_each_label
from halfmax.metrics import Objective
from halfmax.scoring import mean_of_known
from halfmax.staircase import Staircase
from halfmax.thresholds import Thresholds

Array = npt.NDArray[Any]

_TELLING = 20  # rows; fewer may be what they are by chance
_TOO_MUCH = 0.2  # of the score
_SAMPLE = 1 << 12  # labels; enough to know their mean


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
    flooded = np.flatnonzero(floods(choice.predicted, choice.positives, choice.total))
    news = [_of_flood(choice, tuned, flooded)] if len(flooded) else []
    apart = tuned.average == "binary" or (tuned.average == "macro" and not tuned.shared)
    if stairs is not None and guard is None and apart and not objective.floors:
        news += _of_optimism(stairs, objective, choice, tuned)
    if not news:
        return
    warnings.warn(f"{'; '.join(news)}. {_remedy(tuned, objective)}", OptimismWarning, stacklevel=4)


def _remedy(tuned: Thresholds, objective: Objective) -> str:
    if tuned.shared and tuned.average != "binary":
        return "One threshold for each label with guard='auto' floods no label"
    but = ", though without floors" if objective.floors else ""
    return f"guard='auto' gives thresholds that hold on new data{but}; diagnose() tells more"


def _of_flood(choice: Choice, tuned: Thresholds, flooded: Array) -> str:
    what = "more than 5 % of the rows tuned on and more than 10 times the base rate"
    if tuned.average == "binary":
        return (
            f"{choice.predicted[0]:,.0f} of {choice.total[0]:,.0f} rows are predicted where "
            f"{choice.positives[0]:,.0f} are positive: {what}"
        )
    names = tuned.labels or range(len(tuned.thresholds))
    worst = flooded[np.argsort(-choice.predicted[flooded], kind="stable")]
    some = spell_out([names[j] for j in worst], most=3)
    verb = "is" if len(flooded) == 1 else "are"
    return f"{len(flooded):,} of {len(names):,} labels {verb} predicted for {what} ({some})"


def _of_optimism(
    stairs: Staircase | Callable[[], Staircase],
    objective: Objective,
    choice: Choice,
    tuned: Thresholds,
) -> list[str]:
    """A quick estimate: labels with few positives by leaving each of these out, others as tuned."""
    score = tuned.score
    rare = np.flatnonzero((choice.positives > 0) & (choice.positives < MANY))
    if not len(rare) or not score > 0:
        return []
    some = np.random.default_rng(0).permutation(rare)[:_SAMPLE]
    known = choice.stairs or (stairs() if callable(stairs) else stairs)
    left = of_each_label(known.of_labels(some), objective)
    lost = objective(*(part[some] for part in choice.counts)) - left.expected
    optimism = mean_of_known(lost) * len(rare) / np.isfinite(tuned.label_scores).sum()
    if not optimism > _TOO_MUCH * score:
        return []
    return [
        f"these thresholds reach {score:.3f} on the rows they were tuned on, and about "
        f"{score - optimism:.3f} is to be expected on new ones"
    ]
