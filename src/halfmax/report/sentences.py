"""What a report says in sentences: the data, what would change, and what to do about it."""

from typing import NamedTuple

import numpy as np

from halfmax.honesty.diagnosis import FINDINGS
from halfmax.metrics.words import AVERAGE_WORDS, metric_name
from halfmax.report.content import Content
from halfmax.report.pages import shown_ratio

_TOO_MUCH = 0.2  # of the score, lost on new data
_SHOWN = 6


class Advice(NamedTuple):
    """Something to know about the answer, and what to do."""

    finding: str  # by which the labels can be filtered, or ""
    what: str
    remedy: str
    labels: list[int]  # places of the first few
    more: int


def average_name(average: str) -> str:
    """The words before a score."""
    return {"binary": "", **{key: f"{word} " for key, word in AVERAGE_WORDS.items()}}[average]


def headline(content: Content) -> str:
    """The score that was maximised, in words."""
    tuned = content.subject.thresholds
    return f"{average_name(tuned.average)}{metric_name(tuned.metric)}"


def facts(content: Content) -> list[tuple[str, str]]:
    """What the data are and what was asked."""
    subject, tuned = content.subject, content.subject.thresholds
    data, positives = subject.data, content.tuned.choice.counts.positives
    weighed = "" if data.weights is None else f", weighing {data.total:,.6g}"
    found = [("Rows", f"{data.n_rows:,}{weighed}")]
    if not data.is_binary:
        found.append(("Labels", f"{data.n_labels:,}"))
        without = int((positives == 0).sum())
        found.append(("Labels without a positive", f"{without:,}"))
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
    floors = [f"{part.name} {floor:g}" for part, floor in subject.goal.objective.floors]
    if floors:
        found.append(("At least", " and ".join(floors)))
    if not subject.tuned_here:
        found.append(("Tuned on", f"other rows, where they reached {tuned.score:.4f}"))
    return found


def _kind_of_thresholds(content: Content) -> str:
    tuned = content.subject.thresholds
    if tuned.average == "binary" or tuned.shared:
        return f"one, {tuned.threshold:.6g}" if tuned.threshold < float("inf") else "one: nobody"
    return "one for each label"


def advice(content: Content) -> list[Advice]:
    """The most harmful first: scores that will not hold, then labels by their findings."""
    found = [*_of_optimism(content), *_of_findings(content)]
    if not content.subject.data.may_be_probabilities:
        found.append(
            Advice(
                "",
                "Scores are not probabilities, so nothing is said of calibration, and the usual "
                "cut is taken to be 0.",
                "Nothing to do for tuning; decide() needs calibrated probabilities.",
                [],
                0,
            )
        )
    return found


def _of_optimism(content: Content) -> list[Advice]:
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
            f"These thresholds reach {score:.3f} on the rows they were tuned on, and "
            f"{assessed.expected_score:.3f} on others: they were chosen because they looked best "
            "on the former.",
            _guard_remedy(content),
            [],
            0,
        )
    ]


def _guard_remedy(content: Content) -> str:
    """What a guard would do, if there is not one at work."""
    tuned = content.subject.thresholds
    if tuned.guard == "auto":
        return "guard='auto' is at work already; only more labelled rows would help."
    if content.subject.goal.objective.floors:
        return "Label more rows; a guard would look past the floors of precision and recall."
    if tuned.shared and tuned.average != "binary":
        return "Tune one threshold for each label with guard='auto', which floods no label."
    return "Tune with guard='auto', which gives thresholds that hold on new data."


# Each finding of many labels in words, and what to do where a guard is no remedy; `FINDINGS` has
# the words for one.
_SAID = {
    "uninformative": (
        "not shown to do better than predicting everyone",
        "Better scores are needed; guard='never' leaves such labels unpredicted until then.",
    ),
    "flooding": (
        "flooding: predicted for more than 5 % of rows and more than 10 times the base rate",
        "",
    ),
    "too few positives": (
        "known from so few positives that luck decides: fewer rows than 1/b² at base rate b",
        "",
    ),
    "unstable threshold": (
        "cut at an unsteady place: one end of the threshold's interval predicts more than 3 times "
        "the rows of the other",
        "",
    ),
    "miscalibrated": (
        "miscalibrated: probabilities that are right would have another threshold",
        "Tuning does not mind; calibrate the scores before you use decide().",
    ),
}


def _of_findings(content: Content) -> list[Advice]:
    size, found = len(content.names), []
    for name in FINDINGS:
        who = [j for j, names in enumerate(content.findings) if name in names]
        if not who:
            continue
        meaning, remedy = _SAID[name]
        some = f"{len(who):,} of {size:,} labels {'is' if len(who) == 1 else 'are'}"
        alone = content.subject.data.is_binary
        subject = "The classifier is" if alone else some
        worst = sorted(who, key=lambda j: -content.tuned.choice.counts.predicted[j])[:_SHOWN]
        shown = [] if alone else worst
        more = len(who) - len(worst)
        told = remedy or _guard_remedy(content)
        found.append(Advice(name, f"{subject} {meaning}.", told, shown, more))
    return found


def difference(content: Content) -> str:
    """What these thresholds change against the usual cut, in a sentence."""
    here, there = content.tuned.choice, content.usual.choice
    before = content.usual.scores[content.subject.thresholds.average]
    cut = f"{content.usual.choice.thresholds[0]:g}"
    moved = here.counts.predicted - there.counts.predicted
    what = "predictions" if content.subject.data.is_binary else "predictions (rows times labels)"
    rise = f"from {shown_ratio(before)} at {cut} to {shown_ratio(content.score)}"
    return (
        f"{_upper(headline(content))} goes {rise}; {moved[moved > 0].sum():,.6g} {what} are added "
        f"and {np.abs(moved[moved < 0]).sum():,.6g} dropped."
    )


def _upper(words: str) -> str:
    return words[:1].upper() + words[1:]


def nothing_found(content: Content) -> str:
    """Where there is no advice, how much that says."""
    if content.diagnosis is None:
        return "No label floods; the labels were not diagnosed further."
    return "Nothing to report: informative, steady, and known from enough positives."


def why_not_assessed(content: Content) -> str:
    """Why nothing is said of new data."""
    if content.subject.request.assessment is False:
        return "not asked for"
    return "the file does not tell how these thresholds were tuned"


def assessed(content: Content) -> str:
    """What is known of the score on new data."""
    found = content.assessment
    if found is None:
        return ""
    low, high = found.score_interval
    interval = f"{100 * found.level:g} % interval {low:.4f} to {high:.4f}"
    if not content.subject.tuned_here:
        return (
            "The thresholds count other numbers here than on the rows that they were tuned on, so "
            f"these are taken for new rows, on which they really reach a {headline(content)} of "
            f"{found.expected_score:.4f} ({interval}). If some of the rows are the same, or "
            "weights were left out, that flatters."
        )
    lost = content.score - found.expected_score
    curse = (
        f" The difference, {lost:.4f}, is the winner's curse: thresholds were chosen because they "
        "looked best here."
    )
    return (
        f"{_upper(headline(content))} is {content.score:.4f} on the rows tuned on; on new rows of "
        f"the same kind {found.expected_score:.4f} is to be expected ({interval}, for endless new "
        "rows; the score of one new set scatters more)."
        f"{curse if lost > 0 else ''}"
    )


def findings_of(content: Content) -> str:
    """Where the thresholds are not those that the labels were diagnosed with, that they are not."""
    subject = content.subject
    apart = subject.goal.labels_apart
    if content.diagnosis is None or (apart and subject.tuned_here and subject.goal.guard is None):
        return ""
    return (
        "Flooding is said of these thresholds; everything else of each label's scores here, with "
        "the threshold that would be best for it alone."
    )
