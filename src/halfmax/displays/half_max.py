"""Each label's tuned threshold beside the one that calibrated probabilities would have."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from halfmax._core.labels import Labels, names_or_places
from halfmax._core.types import Array
from halfmax.displays.base import MANY_POINTS, Display, ink_of, put_legend, require_result
from halfmax.displays.lettering import name_points
from halfmax.displays.style import BLUE, GREY, ORANGE
from halfmax.expected.decision import Decision
from halfmax.honesty.diagnose import diagnose
from halfmax.honesty.diagnosis import Diagnosis
from halfmax.metrics.metric import LinearFractional, Metric, find_metric
from halfmax.metrics.words import name_of_rule
from halfmax.tuning.thresholds import Thresholds

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_TOO_FEW, _PLENTY = 10, 100  # positives
_LOOKS: tuple[dict[str, Any], ...] = (  # of labels with few, some and plenty of positives
    {"color": "#9bb8cc", "markersize": 2.6},
    {"color": BLUE, "markersize": 4.0},
    {"color": None, "markersize": 5.4},  # that of words
)


@dataclass(eq=False, repr=False)
class HalfMaxDisplay(Display):
    """Tuned thresholds against F*/2 over labels: a check of calibration.

    If scores are calibrated probabilities, the best threshold of a label is half of its best F1
    (the matching cut of other metrics), and its point lies on the diagonal. Above it scores are too
    high, below it too low. Make it with `from_thresholds`, `from_predictions`, `from_diagnosis` or
    `from_decision`; meant for thresholds without a guard.

    Attributes
    ----------
    labels : tuple
        Names of the labels, or their places.
    thresholds : ndarray (m,)
        Tuned ones; ``+inf``, which predicts nobody, is not drawn.
    half_max : ndarray (m,)
        Where calibrated probabilities would have their best thresholds; NaN is not drawn.
    support : ndarray (m,)
        Positives of each label; the more, the darker and larger its dot.
    miscalibrated : ndarray of bool (m,) or None
        Where a diagnosis has found that chance does not explain the difference.
    metric : str
    """

    labels: Labels
    thresholds: Array
    half_max: Array
    support: Array
    miscalibrated: Array | None
    metric: str
    _counted: str = "positive"

    @classmethod
    def from_thresholds(
        cls, thresholds: Thresholds, *, ax: "Axes | None" = None, **how: Any
    ) -> Self:
        """Draw what `tune` gives: a threshold for each label, or one for pooled counts.

        >>> from halfmax import tune
        >>> d = HalfMaxDisplay.from_thresholds(tune([0, 1, 0, 1], [0.1, 0.4, 0.5, 0.8]))
        >>> d.thresholds, d.half_max
        (array([0.4]), array([0.4]))
        """
        return cls._of(thresholds).plot(ax, **how)

    @classmethod
    def _of(cls, thresholds: Thresholds) -> Self:
        t = require_result(Thresholds, thresholds, "thresholds", "tune")
        if t.average == "samples" or (t.shared and t.average == "macro"):
            raise ValueError(
                "thresholds must be those of each label (average='macro' with per_label=True) or "
                "of pooled counts (average='micro') to be compared with F*/2; got "
                f"average={t.average!r} with per_label={not t.shared}"
            )
        finite = t.thresholds[np.isfinite(t.thresholds)]
        if len(finite) and not (finite.min() >= 0.0 and finite.max() <= 1.0):
            wrong = finite[(finite < 0.0) | (finite > 1.0)][0]
            raise ValueError(_no_probabilities(f"a threshold is {wrong:.4g}"))
        metric = t._tuning.goal.metric if t._tuning else find_metric(t.metric)
        reached = t.label_scores if t.average != "micro" else np.full(len(t.thresholds), t.score)
        some = (t.support > 0) & (reached > 0)
        return cls(
            labels=names_or_places(t.labels, len(t.thresholds)),
            thresholds=t.thresholds,
            half_max=np.where(some, _need_ratio(metric).plug_in(reached), np.nan),
            support=t.support,
            miscalibrated=None,
            metric=t.metric,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        metric: str | Metric = "f1",
        *,
        labels: Iterable[Hashable] | None = None,
        level: float = 0.95,
        n_resamples: int = 200,
        seed: int = 0,
        zero_division: float = 0.0,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> Self:
        """Diagnose labelled scores and draw what is found; parameters as `diagnose` takes them."""
        _need_ratio(find_metric(metric))
        given = metric, n_resamples, level, seed
        found = diagnose(y_true, y_score, *given, labels=labels, zero_division=zero_division)
        return cls.from_diagnosis(found, ax=ax, **how)

    @classmethod
    def from_diagnosis(cls, diagnosis: Diagnosis, *, ax: "Axes | None" = None, **how: Any) -> Self:
        """Draw what `diagnose` gives, with the miscalibrated labels marked and named."""
        d = require_result(Diagnosis, diagnosis, "diagnosis", "diagnose")
        if not d.probabilities:
            raise ValueError(_no_probabilities("the scores diagnosed are no probabilities"))
        flagged = np.array(["miscalibrated" in names for names in d.findings], np.bool_)
        some = d.labels, d.thresholds, d.half_max, d.support, flagged, d.metric
        return cls(*some).plot(ax, **how)

    @classmethod
    def from_decision(cls, decision: Decision, *, ax: "Axes | None" = None, **how: Any) -> Self:
        """Draw what `decide` gives: the lowest probability predicted in each batch against F*/2."""
        return cls._of_decision(require_result(Decision, decision, "decision", "decide")).plot(
            ax, **how
        )

    @classmethod
    def _of_decision(cls, d: Decision) -> Self:
        return cls(
            labels=names_or_places(d.labels, len(d.thresholds)),
            thresholds=d.thresholds,
            half_max=d.half_max_thresholds,
            support=d.counts,
            miscalibrated=None,
            metric=d.metric,
            _counted="item",
        )

    def _draw(self, ax: "Axes", name: str | None) -> None:
        shown = np.isfinite(self.thresholds) & np.isfinite(self.half_max)
        self._set_limits(ax, shown)
        of_batches = self._counted == "item"
        look: dict[str, Any] = {"color": GREY, "linewidth": 1.0, "zorder": 1}
        look["label"] = "equal" if of_batches else "calibrated"
        ax.axline((0.0, 0.0), slope=1.0, **look)
        self._draw_labels(ax, shown)
        self._mark_miscalibrated(ax, shown)
        rule = name_of_rule(self.metric)
        ax.set_xlabel(f"{rule}, the threshold if calibrated")
        ax.set_ylabel("lowest probability predicted" if of_batches else "tuned threshold")
        put_legend(ax, name, columns=2)

    def _set_limits(self, ax: "Axes", shown: Array) -> None:
        right = 1.12 * max(self.half_max[shown].max(initial=0.0), 1e-9)
        top = max(1.12 * self.thresholds[shown].max(initial=0.0), right)
        ax.set(xlim=(0.0, right), ylim=(0.0, min(top, 1.05)))

    def _draw_labels(self, ax: "Axes", shown: Array) -> None:
        what = "items predicted" if self._counted == "item" else "positives"
        names = (
            f"fewer than {_TOO_FEW} {what}",
            f"{_TOO_FEW} to {_PLENTY - 1} {what}",
            f"{_PLENTY} or more {what}",
        )
        group = np.digitize(self.support, (_TOO_FEW, _PLENTY))
        many = shown.sum() > MANY_POINTS
        for place, (name, look) in enumerate(zip(names, _LOOKS, strict=True)):
            here = shown & (group == place)
            if here.any():
                size = {"markersize": 1.6 + 0.5 * place} if many else {}
                points = self.half_max[here], self.thresholds[here]
                look = {**look, **size, "color": look["color"] or ink_of(ax)}
                look |= {"label": name, "rasterized": many}
                ax.plot(*points, "o", linestyle="", markeredgewidth=0, clip_on=False, **look)
        hidden = int((~shown).sum())
        if hidden:
            ax.plot([], [], " ", label=f"{hidden:,} without a threshold, not shown")

    def _mark_miscalibrated(self, ax: "Axes", shown: Array) -> None:
        if self.miscalibrated is None or not self.miscalibrated.any():
            return
        marked = np.flatnonzero(self.miscalibrated & shown)
        x, y = self.half_max[marked], self.thresholds[marked]
        look: dict[str, Any] = {"color": ORANGE, "fillstyle": "none", "markersize": 7}
        look |= {"label": f"{len(marked):,} miscalibrated", "markeredgewidth": 1.1}
        look["rasterized"] = len(marked) > MANY_POINTS
        ax.plot(x, y, "o", linestyle="", clip_on=False, **look)
        worst = np.argsort(-np.abs(x - y), kind="stable")
        name_points(ax, x[worst], y[worst], [self.labels[j] for j in marked[worst]], ORANGE)


def _need_ratio(metric: Metric) -> LinearFractional:
    if not isinstance(metric, LinearFractional):
        raise ValueError(
            "metric must be a ratio of weighted sums of tp, fp, fn and tn, such as 'f1' or a "
            "LinearFractional: of others no law says which threshold calibrated probabilities "
            f"would have; got {metric!r}"
        )
    return metric


def _no_probabilities(found: str) -> str:
    return (
        f"scores must be probabilities, from 0 to 1, to be compared with F*/2; {found}: calibrate "
        "first, as with scikit-learn's CalibratedClassifierCV"
    )
