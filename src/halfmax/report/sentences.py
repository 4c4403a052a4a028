"""The sentences of a report: the data, what the thresholds change, and advice."""

from typing import NamedTuple

import numpy as np

from halfmax._core.text import spell_out
from halfmax._core.types import Array
from halfmax.honesty import cross_fit, on_staircase
from halfmax.honesty.assessment import Assessment
from halfmax.honesty.case import ASSESS_RESAMPLES
from halfmax.honesty.diagnosis import FINDINGS
from halfmax.metrics.average import WEIGHTED, mean_over_labels
from halfmax.metrics.cost import Cost
from halfmax.metrics.counts import Counts
from halfmax.metrics.words import name_of_rule
from halfmax.report.content import Content

_TOO_MUCH = 0.2  # share of the score lost on new data above which there is a warning
_OUTCOMES = {
    "fp": "a false positive",
    "fn": "a false negative",
    "tp": "a true positive",
    "tn": "a true negative",
}
_SHOWN = 6  # labels named in an item of advice


class Advice(NamedTuple):
    """A finding about the thresholds, and what to do about it."""

    finding: str  # the finding to filter labels by, or ""
    what: str
    remedy: str
    labels: list[int]  # column numbers of the first few
    more: int  # the number of labels that are not named


def facts(content: Content) -> list[tuple[str, str]]:
    """Return facts about the data and the tuning, as names and values."""
    subject, tuned = content.subject, content.subject.thresholds
    data, positives = subject.data, content.tuned.choice.counts.positives
    weighted = "" if data.weights is None else f", total weight {data.total:,.6g}"
    found = [("Rows", f"{data.n_rows:,}{weighted}")]
    if not data.is_binary:
        found.append(("Labels", f"{data.n_labels:,}"))
        without = int((positives == 0).sum())
        found.append(("Labels without positives", f"{without:,}"))
        found.append(("Positives per row", f"{positives.sum() / data.total:.3g}"))
    else:
        if content.positive_class is not None:
            found.append(("Positive class", content.positive_class))
        found.append(("Positives", f"{positives[0]:,.6g} ({positives[0] / data.total:.3%})"))
    kind = "probabilities, from 0 to 1" if data.may_be_probabilities else "not probabilities"
    found += [
        ("Scores", kind),
        _goal(content),
        ("Thresholds", _kind_of_thresholds(content)),
        *_if_calibrated(content),
        ("Guard", tuned.guard or "none"),
    ]
    restrictions = [one.words for one in subject.goal.objective.restrictions]
    if restrictions:
        below = ", which nothing satisfies" if len(_below_floors(content)) else ""
        if below and _floors_are_of_labels(content):
            below = f", which {len(_below_floors(content)):,} of the labels cannot satisfy"
        found.append(("Restricted to", f"{' and '.join(restrictions)}{below}"))
    if not subject.tuned_here:
        words = content.words
        what = words.headline if words.is_cost else "score"
        score = "" if np.isnan(tuned.score) else f", with a {what} of {words.text(tuned.score)}"
        rows = "unknown" if tuned._unknown.all() else "other"
        found.append(("Tuned on", f"{rows} rows{score}"))
    return found


def _goal(content: Content) -> tuple[str, str]:
    """Return what the thresholds maximise, or the costs that they minimise."""
    words, metric = content.words, content.objective.metric
    by_positives = " (labels count by their positives)" if words.average == WEIGHTED else ""
    if not isinstance(metric, Cost):
        return "Maximised", f"{words.headline}{by_positives}"
    costs = [
        f"{metric.costs[name]:,.10g} for {outcome}"
        for name, outcome in _OUTCOMES.items()
        if name in ("fp", "fn") or metric.costs[name]
    ]
    whose = "row" if words.average == "binary" else "row and label"
    return "Minimised", f"{words.headline} of a {whose}{by_positives}: {', '.join(costs)}"


def _if_calibrated(content: Content) -> list[tuple[str, str]]:
    """Return the threshold that costs alone give for calibrated probabilities, if they do."""
    cuts = content.half_max[np.isfinite(content.half_max)]
    if not (content.words.is_cost and len(cuts)):
        return []
    rule = name_of_rule(content.words.metric)
    return [("If calibrated", f"the threshold would be {cuts[0]:.6g}, {rule}")]


def _kind_of_thresholds(content: Content) -> str:
    tuned = content.subject.thresholds
    if tuned.average == "binary" or tuned.shared:
        if tuned.threshold < float("inf"):
            return f"one, {tuned.threshold:.6g}"
        return "one, which predicts no rows"
    return "one for each label"


def advice(content: Content) -> list[Advice]:
    """Return advice, the most urgent first: optimistic scores, then labels by their findings."""
    found = [*_of_floors(content), *_of_optimism(content), *_of_findings(content)]
    if not content.subject.data.may_be_probabilities:
        found.append(
            Advice(
                "",
                "Scores are not probabilities, so calibration is not judged, and the default cut "
                "is taken to be 0.",
                "This does not matter for tuning, but decide() needs calibrated probabilities.",
                [],
                0,
            )
        )
    return found


def _below_floors(content: Content) -> Array:
    """Return the labels that cannot satisfy the restrictions: [0] for one classifier and pooled."""
    subject, counts = content.subject, content.tuned.choice.counts
    restrictions = subject.goal.objective.restrictions
    if not (restrictions and subject.tuned_here and counts.positives.any()):
        return np.zeros(0, np.int64)  # on rows not tuned on they need not hold
    if subject.thresholds.average == "micro":
        counts = Counts(*(part.sum(keepdims=True) for part in counts))
    held = restrictions.hold(counts.confusion(), subject.goal.objective.zero_division)
    return np.flatnonzero(~held)


def _of_floors(content: Content) -> list[Advice]:
    """Say that nothing satisfies the restrictions, which is why no rows are predicted."""
    below = _below_floors(content)
    if not len(below):
        return []
    words = " and ".join(one.words for one in content.subject.goal.objective.restrictions)
    alone, whom = content.subject.data.is_binary, ""
    who = "No threshold satisfies" if alone else "No thresholds were found that satisfy"
    if _floors_are_of_labels(content):
        some = spell_out([content.names[j] for j in below], most=_SHOWN)
        who = f"{len(below):,} of {len(content.names):,} labels ({some}) cannot satisfy"
        whom = " for it" if len(below) == 1 else " for them"
    what = f"{who} {words}, so no rows are predicted{whom}."
    return [Advice("", what, "Ask for less, or improve the scores.", [], 0)]


def _floors_are_of_labels(content: Content) -> bool:
    """Whether each label has to satisfy the restrictions, rather than pooled counts."""
    return not content.subject.data.is_binary and content.subject.thresholds.average != "micro"


def _of_optimism(content: Content) -> list[Advice]:
    """Warn if much of what the thresholds gain will be lost on new data."""
    assessed, score, words = content.assessment, content.score, content.words
    if assessed is None:
        return []
    if not content.subject.tuned_here:
        score = content.subject.thresholds.score
    gained, lost = score - _without_skill(content), score - assessed.expected_score
    if not (gained > 0 and lost > _TOO_MUCH * gained):
        return []
    here, there = words.text(score), words.text(assessed.expected_score)
    reach, only = ("have a mean cost of", "") if words.is_cost else ("reach", "only ")
    what = (
        f"These thresholds {reach} {here} on the rows they were tuned on, but {only}{there} on "
        "other rows: they were chosen because they looked best on the tuning rows."
    )
    return [Advice("", what, _guard_remedy(content), [], 0)]


def _without_skill(content: Content) -> float:
    """Return the score that needs no skill: 0, or that of the cheaper of all rows and none.

    Costs have no zero of their own: the same cost added to all outcomes changes no decision.
    """
    if not content.words.is_cost:
        return 0.0
    _, _, positives, total = content.tuned.choice.counts
    every = content.objective(positives, total, positives, total)
    none = content.objective(0, 0, positives, total)
    return mean_over_labels(np.maximum(every, none), content.words.average, positives)


def _guard_remedy(content: Content) -> str:
    """Suggest a guard, if none is in use."""
    tuned = content.subject.thresholds
    if tuned.guard == "auto":
        return "guard='auto' is already in use; only more labelled rows would help."
    if why := _why_no_guard(content):
        return f"Label more rows; {why}."
    if tuned.shared and tuned.average != "binary":
        return "Tune one threshold for each label with guard='auto', which prevents flooding."
    return "Tune with guard='auto', which chooses thresholds that hold on new data."


def _why_no_guard(content: Content) -> str | None:
    """Return why a guard cannot help here; None if it can."""
    goal, counts = content.subject.goal, content.tuned.choice.counts
    if _of_row_costs(content):
        return "guards know no costs of each row"
    if goal.objective.restrictions:
        return "a guard would ignore the restrictions"
    if not goal.objective.is_monotone(counts.positives, counts.total):
        return f"guards do not know the metric {content.words.name!r}"
    return None


# The text of each finding for many labels, and what to do if a guard is no remedy. `FINDINGS` has
# the text for a single label.
_FINDING_TEXTS = {
    "uninformative": (
        "not shown to do better than predicting all rows",
        "Better scores are needed.",
    ),
    "flooding": (
        "flooding: predicted for more than 5 % of rows and more than 10 times the base rate",
        "",
    ),
    "too few positives": (
        "decided by luck, because positives are too few: fewer rows than 1/b² at base rate b",
        "",
    ),
    "unstable threshold": (
        "unstable: one end of the threshold's interval predicts more than 3 times as many rows as "
        "the other",
        "",
    ),
    "miscalibrated": (
        "miscalibrated: calibrated probabilities would have another threshold",
        "This does not matter for tuning; calibrate the scores before you use decide().",
    ),
}


def _of_findings(content: Content) -> list[Advice]:
    """Return one item of advice for each finding, with the labels that it concerns."""
    size, found = len(content.names), []
    for name in FINDINGS:
        who = [j for j, names in enumerate(content.findings) if name in names]
        if not who:
            continue
        meaning, remedy = _FINDING_TEXTS[name]
        some = f"{len(who):,} of {size:,} labels {'is' if len(who) == 1 else 'are'}"
        alone = content.subject.data.is_binary
        subject = "The classifier is" if alone else some
        worst = sorted(who, key=lambda j: -content.tuned.choice.counts.predicted[j])[:_SHOWN]
        shown = [] if alone else worst
        more = len(who) - len(worst)
        remedy = remedy or _guard_remedy(content)
        if name == "uninformative" and not _why_no_guard(content):
            remedy = "Better scores are needed; until then, guard='never' does not predict such "
            remedy += "labels."
        found.append(Advice(name, f"{subject} {meaning}.", remedy, shown, more))
    return found


def difference(content: Content) -> str:
    """Compare these thresholds with the default cut, in one sentence."""
    here, there, words = content.tuned.choice, content.usual.choice, content.words
    before = content.usual.scores[words.average]
    cut = f"{content.usual.choice.thresholds[0]:g}"
    moved = here.counts.predicted - there.counts.predicted
    what = "predictions" if content.subject.data.is_binary else "predictions (rows times labels)"
    rise = f"from {words.text(before)} at {cut} to {words.text(content.score)}"
    return (
        f"{_upper(words.headline)} goes {rise}; {moved[moved > 0].sum():,.6g} {what} are added "
        f"and {np.abs(moved[moved < 0]).sum():,.6g} are dropped."
    )


def _upper(words: str) -> str:
    return words[:1].upper() + words[1:]


def nothing_found(content: Content) -> str:
    """Say what it means that there is no advice."""
    if content.diagnosis is None:
        return "No label floods; the labels were not diagnosed further."
    return "Nothing to report: scores are informative, thresholds stable, and positives sufficient."


def _of_row_costs(content: Content) -> bool:
    """Whether one cost for each outcome stands for costs of each row, as `row_costs` has it."""
    tuned = content.subject.thresholds
    known = content.words.is_cost and np.isnan(tuned.score) and not tuned._unknown.any()
    return known and tuned._tuning is not None and tuned._tuning.by_hand


def why_not_assessed(content: Content) -> str:
    """Explain why there is no assessment."""
    if content.subject.request.assessment is False:
        return "not requested"
    tuned = content.subject.thresholds
    if tuned._tuning is not None and tuned._tuning.by_hand:
        if _of_row_costs(content):
            return (
                "these thresholds were tuned for costs of each row; assess() of the same data says "
                "what to expect"
            )
        return "some of these thresholds were set by hand"
    return "the file does not say how these thresholds were tuned"


def assessed(content: Content) -> str:
    """Describe the score to expect on new data."""
    found, words = content.assessment, content.words
    if found is None:
        return ""
    interval = f"{100 * found.level:g} % interval {words.interval(found.score_interval)}"
    expected = words.text(found.expected_score)
    if not content.subject.tuned_here:
        why = "The counts differ from those of the rows that the thresholds were tuned on"
        if content.subject.thresholds._unknown.all():
            why = "It is not known which rows the thresholds were tuned on"
        return (
            f"{why}, so these are treated as new rows, on which {words.headline} is {expected} "
            f"({interval}). If some of the rows are the same, or if weights were left out, this is "
            "too optimistic."
        )
    lost = content.score - found.expected_score
    curse = (
        f" The difference, {words.written(lost)}, is the winner's curse: the thresholds were "
        "chosen because they looked best here."
    )
    return (
        f"{_upper(words.headline)} is {words.text(content.score)} on the tuning rows. On new rows "
        f"of the same kind, expect {expected} ({interval}, for unlimited new rows; the "
        f"{'cost' if words.is_cost else 'score'} of a single new set varies more)."
        f"{curse if lost > 0 else ''}{_resamples(content, found)}"
    )


def _resamples(content: Content, found: Assessment) -> str:
    """Say how many resamples there were, if `assess` would draw more by default."""
    goal, drawn = content.subject.goal, len(found.resampled_scores)
    most = ASSESS_RESAMPLES if on_staircase.can_judge(goal) else cross_fit.MOST_REPLICATES
    if drawn >= most:
        return ""
    return (
        f" This page draws {drawn:,} bootstrap resamples and assess() {ASSESS_RESAMPLES:,} by "
        "default, so their numbers may differ slightly."
    )


def findings_of(content: Content) -> str:
    """Note if the labels were diagnosed at other thresholds than these."""
    subject = content.subject
    apart = subject.goal.labels_apart
    if content.diagnosis is None or (apart and subject.tuned_here and subject.goal.guard is None):
        return ""
    return (
        "Flooding refers to these thresholds. All other findings refer to each label's scores at "
        "the threshold that would be best for that label alone."
    )
