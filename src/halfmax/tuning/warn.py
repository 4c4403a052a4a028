"""Warnings of `tune`: floors not satisfied, nothing predicted, flooding, optimistic scores."""

import numpy as np

from halfmax._core.errors import OptimismWarning, in_python, setting, warn
from halfmax._core.limits import limits
from halfmax._core.text import spell_out
from halfmax._core.types import Array
from halfmax.metrics.average import mean_of_known, mean_over_labels
from halfmax.metrics.counts import Counts, beyond_rounding
from halfmax.metrics.goal import Goal
from halfmax.metrics.objective import Objective
from halfmax.metrics.words import metric_name, shown
from halfmax.staircase import leave_one_out
from halfmax.staircase.grid import positive_entries
from halfmax.staircase.leave_one_out import PLENTY, of_each_label
from halfmax.staircase.stable_order import keys_of_labels
from halfmax.tuning.exact.choose import Choice
from halfmax.tuning.thresholds import Thresholds
from halfmax.tuning.tuning import Tuning

_FEWEST_ROWS = 20  # with fewer rows, anything may be chance
_ROUNDING = 1e-9  # of sums of weights
NO_POSITIVES = (
    f"{in_python('y_true')} has no positives, so no threshold can be tuned and no rows are "
    f"predicted: pass rows with positives, or check {in_python('pos_label')}"
)
_NO_NEGATIVES = (
    f"{in_python('y_true')} has no negatives, so there is nothing to tell apart: pass rows with "
    f"negatives, or check {in_python('pos_label')}"
)
_DIRECTION = (
    "check that higher scores mean more likely positive, and which class is positive "
    f"({in_python('pos_label')})"
)
_NOTHING = {  # guard: why nothing is predicted, and what to do
    "never": (
        f"{setting('guard', 'never')} drops labels that flood or are not shown to be better than "
        "predicting all rows, and here it drops all labels",
        f"use more rows or {setting('guard', 'auto')}; see {in_python('diagnose()')} for details",
    ),
    "auto": (
        f"with this few rows or positives, {setting('guard', 'auto')} finds no threshold that does "
        "not flood",
        f"use more rows, or {setting('guard', 'smooth')}, which may flood; see "
        f"{in_python('diagnose()')} for details",
    ),
    None: (
        "no positive has a score above -inf",
        f"check that {in_python('y_true')} and {in_python('y_score')} belong together, and what "
        "scores the classifier returns",
    ),
}


def warn_of_problems(tuning: Tuning, tuned: Thresholds, n_rows: int, weighted: bool) -> None:
    """Warn the caller of `tune` of all problems that these thresholds have."""
    counts = tuning.choice.counts
    if not counts.positives.any():
        warn(NO_POSITIVES)
        return
    below = warn_below_floors(tuning, tuned)
    if n_rows < _FEWEST_ROWS:
        if not below:
            _warn_of_few_rows(tuning, tuned, n_rows)
        return
    if tuning.goal.one_classifier and not _negatives(counts).any():
        warn(_NO_NEGATIVES)
        return
    if not below:
        _warn_of_nothing(tuning, tuned)
    _warn_of_curse(tuning, tuned, weighted)


def _negatives(counts: Counts) -> Array:
    return beyond_rounding(counts.total - counts.positives, counts.total)


def _warn_of_few_rows(tuning: Tuning, tuned: Thresholds, n_rows: int) -> None:
    """Warn that so few rows say little about others."""
    rows, are = ("1 row", "is") if n_rows == 1 else (f"{n_rows} rows", "are")
    if tuned.average == "binary":
        rows += f" with {tuning.choice.counts.positives[0]:,g} positive"
    reached = f"{metric_name(tuned.metric)} {shown(tuned.metric, tuned.score):.3f}"
    warn(
        f"{rows} {are} too few to tune on: {reached} here says little about new rows; pass "
        f"{_FEWEST_ROWS} rows or more, and see {in_python('assess()')} for what to expect",
        OptimismWarning,
    )


def _warn_of_curse(tuning: Tuning, tuned: Thresholds, weighted: bool) -> None:
    """Warn once of flooding and optimism, with the numbers and the remedy."""
    goal = tuning.goal
    flooded = np.flatnonzero(tuning.choice.counts.floods())
    if goal.metric.is_cost:  # whose prices decide how many rows are too many
        flooded = flooded[:0]
    messages = [_of_flood(tuning.choice, tuned, flooded)] if len(flooded) else []
    if (
        goal.labels_apart
        and goal.guard is None
        and not goal.objective.restrictions
        and not weighted
    ):
        messages += _of_optimism(tuning, tuned)
    if messages:
        warn(f"{'; '.join(messages)}. {_remedy(goal)}", OptimismWarning)
    elif goal.one_classifier:
        _warn_of_no_skill(tuning)


def _warn_of_no_skill(tuning: Tuning) -> None:
    """Warn if a classifier predicts every row, or rows that are positive less often than others."""
    tp, predicted, positives, total = (float(part[0]) for part in tuning.choice.counts)
    see = f"{_DIRECTION}; see {in_python('diagnose()')} for details"
    if predicted == total:
        why = (
            "and no threshold costs less"
            if tuning.goal.metric.is_cost
            else "as by a classifier that knows nothing"
        )
        warn(f"all {total:,.6g} rows are predicted, {why}: {see}", OptimismWarning)
    elif tp * total < predicted * positives * (1.0 - _ROUNDING):
        warn(
            f"{100 * tp / predicted:.3g} % of the rows predicted are positive, and "
            f"{100 * positives / total:.3g} % of all rows: {see}",
            OptimismWarning,
        )


def _warn_of_nothing(tuning: Tuning, tuned: Thresholds) -> None:
    """Warn if no rows are predicted although there are positives.

    For some metrics, such as accuracy, it may be optimal.
    """
    counts, goal = tuning.choice.counts, tuning.goal
    if counts.predicted.any() or not counts.positives.any():
        return
    name = None if goal.guard is None else goal.guard.name
    if tuned.score > 0 and name != "never":
        return
    why, what = _NOTHING.get(name, _NOTHING[None])
    if (
        name is None
        and tuning.data is not None
        and positive_entries(tuning.data)[1].max() > -np.inf
    ):
        within = ""
        if goal.objective.restrictions:
            within = f"that satisfies {goal.objective.restrictions.spelled} "
        better = "costs less" if goal.metric.is_cost else "scores more"
        why = f"no threshold {within}{better} than that"
        what = _DIRECTION
    warn(f"these thresholds predict nothing at all, though there are positives: {why}; {what}")


def _remedy(goal: Goal) -> str:
    if not (goal.per_label or goal.one_classifier):
        return f"One threshold for each label with {setting('guard', 'auto')} floods no label"
    but = ", but takes no floors" if goal.objective.restrictions else ""
    return (
        f"{setting('guard', 'auto')} gives thresholds that hold on new data{but}; see "
        f"{in_python('diagnose()')} for details"
    )


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


def _of_optimism(tuning: Tuning, tuned: Thresholds) -> list[str]:
    score, positives = tuned.score, tuning.choice.counts.positives
    few = (positives > 0) & (positives <= PLENTY)
    if not few.any() or not score > 0 or _cannot_lose_much(tuning.goal.objective, tuned, few):
        return []
    expected = _expected_at_most(tuning, tuned, np.flatnonzero(few))
    if not score - expected > limits.warned_optimism * score:
        return []
    closer = (
        f"a quick estimate; {in_python('assess()')} gives a better one"
        if tuned.average == "binary"
        else f"only labels with at most {PLENTY:.0f} positives are corrected for "
        f"luck here; {in_python('assess()')} corrects all of them"
    )
    return [
        f"these thresholds reach {score:.3f} on the rows they were tuned on; expect at most about "
        f"{expected:.3f} on new rows ({closer})"
    ]


def _cannot_lose_much(objective: Objective, tuned: Thresholds, few: Array) -> bool:
    """Return whether losing all scores of labels with few positives would not be warned of."""
    if objective.zero_division != 0.0 or not objective.metric.is_share_of_hits:
        return False
    part = leave_one_out.part_of_bootstrap(tuned.support[few])
    lost = ((1.0 - part) * tuned.label_scores[few]).sum() / len(tuned.label_scores)
    return bool(lost <= limits.warned_optimism * tuned.score)


def _expected_at_most(tuning: Tuning, tuned: Thresholds, few: Array) -> float:
    """Return what `assess` would expect if its bootstrap, which takes time, saw no optimism."""
    stairs, objective, some = tuning.stairs_of(few), tuning.goal.objective, few
    most = limits.warning_labels
    if len(few) > most:
        kept = np.argsort(keys_of_labels(stairs), kind="stable")[:most]
        stairs, some = stairs.of_labels(kept), few[kept]
    positives = tuning.choice.counts.positives
    left = of_each_label(stairs, objective, PLENTY + 1, positives).expected
    alone = tuned.average == "binary"
    expected = tuned.label_scores.copy()
    judged = leave_one_out.mixed(positives[some], expected[some], left, alone)
    if len(some) < len(few):
        judged = np.full(len(few), mean_of_known(judged))
    expected[few] = judged
    if not alone:
        predicted = tuning.choice.counts.predicted
        expected = leave_one_out.with_empty_labels(objective, positives, predicted, expected)
    return min(mean_over_labels(expected, tuned.average, positives), tuned.score)


def warn_below_floors(tuning: Tuning, tuned: Thresholds) -> bool:
    """Warn where no threshold satisfies the restrictions, so that no rows are predicted."""
    counts, objective = tuning.choice.counts, tuning.goal.objective
    if tuned.average == "micro":
        counts = Counts(*(part.sum(keepdims=True) for part in counts))
    restrictions = objective.restrictions
    below = np.flatnonzero(~restrictions.hold(counts.confusion(), objective.zero_division))
    if not len(below):
        return False
    size = len(tuned.thresholds)
    if len(counts[0]) == 1:
        certain = tuned.average == "binary" or len(restrictions) == 1
        who, what = "no threshold satisfies", "no rows are predicted"
        if not certain:
            who = "found no thresholds that satisfy"
    else:
        names = tuned.labels or range(size)
        some = spell_out([names[j] for j in below], most=5)
        who = f"{len(below)} of {size} labels ({some}) cannot satisfy"
        what = f"no rows are predicted for {'it' if len(below) == 1 else 'them'}"
    warn(f"{who} {restrictions.spelled}: {what}")
    return True
