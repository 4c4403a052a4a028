"""The sentences of a report: the data, what the thresholds change, and advice."""

from typing import NamedTuple

import numpy as np

from halfmax.honesty.diagnosis import FINDINGS
from halfmax.metrics.words import AVERAGE_WORDS, metric_name
from halfmax.report.content import Content
from halfmax.report.templating import shown_ratio

_TOO_MUCH = 0.2  # share of the score lost on new data that is worth a warning
_SHOWN = 6  # labels named in an item of advice


class Advice(NamedTuple):
    """A finding about the thresholds, and what to do about it."""

    finding: str  # the finding to filter labels by, or ""
    what: str
    remedy: str
    labels: list[int]  # column numbers of the first few
    more: int  # the number of labels that are not named


def average_name(average: str) -> str:
    """Return the name of an average as the first part of a score's name."""
    return {"binary": "", **{key: f"{word} " for key, word in AVERAGE_WORDS.items()}}[average]


def headline(content: Content) -> str:
    """Return the name of the maximised score, such as "macro F1"."""
    tuned = content.subject.thresholds
    return f"{average_name(tuned.average)}{metric_name(tuned.metric)}"


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
        found.append(("Positives", f"{positives[0]:,.6g} ({positives[0] / data.total:.3%})"))
    kind = "probabilities, from 0 to 1" if data.may_be_probabilities else "not probabilities"
    found += [
        ("Scores", kind),
        ("Maximised", headline(content)),
        ("Thresholds", _kind_of_thresholds(content)),
        ("Guard", tuned.guard or "none"),
    ]
    restrictions = [one.words for one in subject.goal.objective.restrictions]
    if restrictions:
        found.append(("Restricted to", " and ".join(restrictions)))
    if not subject.tuned_here:
        score = "" if np.isnan(tuned.score) else f", with a score of {tuned.score:.4f}"
        rows = "unknown" if tuned._unknown.all() else "other"
        found.append(("Tuned on", f"{rows} rows{score}"))
    return found


def _kind_of_thresholds(content: Content) -> str:
    tuned = content.subject.thresholds
    if tuned.average == "binary" or tuned.shared:
        if tuned.threshold < float("inf"):
            return f"one, {tuned.threshold:.6g}"
        return "one, which predicts no rows"
    return "one for each label"


def advice(content: Content) -> list[Advice]:
    """Return advice, the most urgent first: optimistic scores, then labels by their findings."""
    found = [*_of_optimism(content), *_of_findings(content)]
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


def _of_optimism(content: Content) -> list[Advice]:
    """Warn if much of the score will be lost on new data."""
    assessed, score = content.assessment, content.score
    if assessed is None or not score > 0:
        return []
    if not content.subject.tuned_here:
        score = content.subject.thresholds.score
    lost = score - assessed.expected_score
    if not lost > _TOO_MUCH * score:
        return []
    return [
        Advice(
            "",
            f"These thresholds reach {score:.3f} on the rows they were tuned on, but only "
            f"{assessed.expected_score:.3f} on other rows: they were chosen because they looked "
            "best on the tuning rows.",
            _guard_remedy(content),
            [],
            0,
        )
    ]


def _guard_remedy(content: Content) -> str:
    """Suggest a guard, if none is in use."""
    tuned = content.subject.thresholds
    if tuned.guard == "auto":
        return "guard='auto' is already in use; only more labelled rows would help."
    if content.subject.goal.objective.restrictions:
        return "Label more rows; a guard would ignore the restrictions."
    if tuned.shared and tuned.average != "binary":
        return "Tune one threshold for each label with guard='auto', which prevents flooding."
    return "Tune with guard='auto', which chooses thresholds that hold on new data."


# The text of each finding for many labels, and what to do if a guard is no remedy. `FINDINGS` has
# the text for a single label.
_FINDING_TEXTS = {
    "uninformative": (
        "not shown to do better than predicting all rows",
        "Better scores are needed; until then, guard='never' does not predict such labels.",
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
        found.append(Advice(name, f"{subject} {meaning}.", remedy, shown, more))
    return found


def difference(content: Content) -> str:
    """Compare these thresholds with the default cut, in one sentence."""
    here, there = content.tuned.choice, content.usual.choice
    before = content.usual.scores[content.subject.thresholds.average]
    cut = f"{content.usual.choice.thresholds[0]:g}"
    moved = here.counts.predicted - there.counts.predicted
    what = "predictions" if content.subject.data.is_binary else "predictions (rows times labels)"
    rise = f"from {shown_ratio(before)} at {cut} to {shown_ratio(content.score)}"
    return (
        f"{_upper(headline(content))} goes {rise}; {moved[moved > 0].sum():,.6g} {what} are added "
        f"and {np.abs(moved[moved < 0]).sum():,.6g} are dropped."
    )


def _upper(words: str) -> str:
    return words[:1].upper() + words[1:]


def nothing_found(content: Content) -> str:
    """Say what it means that there is no advice."""
    if content.diagnosis is None:
        return "No label floods; the labels were not diagnosed further."
    return "Nothing to report: scores are informative, thresholds stable, and positives sufficient."


def why_not_assessed(content: Content) -> str:
    """Explain why there is no assessment."""
    if content.subject.request.assessment is False:
        return "not requested"
    tuning = content.subject.thresholds._tuning
    if tuning is not None and tuning.by_hand:
        return "some of these thresholds were set by hand"
    return "the file does not say how these thresholds were tuned"


def assessed(content: Content) -> str:
    """Describe the score to expect on new data."""
    found = content.assessment
    if found is None:
        return ""
    low, high = found.score_interval
    interval = f"{100 * found.level:g} % interval {low:.4f} to {high:.4f}"
    if not content.subject.tuned_here:
        why = "The counts differ from those of the rows that the thresholds were tuned on"
        if content.subject.thresholds._unknown.all():
            why = "It is not known which rows the thresholds were tuned on"
        return (
            f"{why}, so these are treated as new rows, on which the thresholds reach a "
            f"{headline(content)} of {found.expected_score:.4f} ({interval}). If "
            "some of the rows are the same, or if weights were left out, this is too optimistic."
        )
    lost = content.score - found.expected_score
    curse = (
        f" The difference, {lost:.4f}, is the winner's curse: the thresholds were chosen because "
        "they looked best here."
    )
    return (
        f"{_upper(headline(content))} is {content.score:.4f} on the tuning rows. On new rows of "
        f"the same kind, expect {found.expected_score:.4f} ({interval}, for unlimited new rows; "
        "the score of a single new set varies more)."
        f"{curse if lost > 0 else ''}"
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
