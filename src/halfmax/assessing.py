"""Labelled scores in, what new data will show out."""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from halfmax import _inputs, _options, assessing_labels, choosing, cross_fitting, tuning
from halfmax._progress import Progress, Wanted
from halfmax.assessment import Assessment, Case
from halfmax.metrics import Metric, Objective, find_metric


def assess(
    y_true: Any,
    y_score: Any,
    metric: str | Metric = "f1",
    average: str = "macro",
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    *,
    per_label: bool = True,
    labels: Iterable[Hashable] | None = None,
    zero_division: float = 0.0,
    progress: Wanted = None,
) -> Assessment:
    """What the thresholds of `tune` will reach on new data, and how sure they are.

    A tuned score flatters: the threshold was chosen because it looked best on these very rows. New
    rows of the same kind show less, and much less where labels have few positives.

    Parameters
    ----------
    y_true, y_score, metric, average, per_label, labels, zero_division
        As `tune` takes them; its exact optimum is what is assessed.
    n_resamples : int
        How often the rows are drawn again. ``average="samples"``, and one threshold shared by all
        labels, are tuned anew for each and stop at 40.
    level : float
        The share of intervals that shall hold the truth, above 0 and below 1.
    seed : int
        The same seed gives the same answer, whatever the number of threads.
    progress : bool or function
        True for a line on stderr, or a function of (done, all).

    Returns
    -------
    Assessment
        With ``expected_score``, ``optimism``, ``score_interval``, ``threshold_interval``, the same
        for each label, ``resampled_scores`` and ``table()``.

    Notes
    -----
    Labels with few positives are judged by leaving each positive out, labels with many by the
    Poisson bootstrap; `average="samples"` and shared thresholds by ten-fold cross-fitting. Rows are
    taken to be independent draws of one source, as new rows will be. Tested most for F-beta and
    Jaccard; other metrics of rare labels are judged more roughly. Thresholds tried are scores of
    positives, so for a classifier that hardly errs the threshold's interval is that of the lowest
    positive and can lie wholly above the best threshold.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.05
    >>> a = assess(y, rng.normal(size=2000) + 1.5 * y)
    >>> print(f"{a.score:.2f} here, {a.expected_score:.2f} expected on new data")
    0.38 here, 0.36 expected on new data
    """
    if not isinstance(per_label, (bool, np.bool_)):
        raise TypeError(f"per_label must be True or False; got {per_label!r}")
    n_resamples = _options.check_whole("n_resamples", n_resamples, 1)
    level = _options.check_share_inside("level", level)
    seed = _options.check_whole("seed", seed, 0)
    Progress(progress, "", 1)
    objective = Objective(find_metric(metric), _options.check_zero_division(zero_division))
    data = _inputs.read_labelled(y_true, y_score, None, labels)
    average = _options.check_average(average, one_classifier=data.is_binary)
    tuning.refuse_what_cannot_be(data, average, per_label, objective)
    choice = choosing.choose(data, average, per_label, objective)
    tuned = tuning.result(data, average, per_label, objective, choice)
    case = Case(data, average, per_label, objective, tuned, n_resamples, level, seed, progress)
    judge = assessing_labels.judge if assessing_labels.can_judge(case) else cross_fitting.judge
    return Assessment.of(case, judge(case))
