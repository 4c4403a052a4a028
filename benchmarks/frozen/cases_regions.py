"""Known densities and the winner's curse: `decision_region`, `simulate_winners_curse`."""

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy import stats
from sklearn.neighbors import KernelDensity

import halfmax as hm
from benchmarks.frozen.cases import Answer, Case
from benchmarks.frozen.inputs import METRICS, one


def region(*densities: Any, **how: Any) -> Answer:
    """The answer with its table, its curves and what it contains, and how it prints."""
    r = hm.decision_region(*densities, **how)
    inside = r.contains(np.linspace(-5, 5, 101))
    return Answer([r, r.table(), r.curves(50), inside], repr(r))


def _rising(s: Any) -> Any:
    return 2.0 * s


def _falling(s: Any) -> Any:
    return 2.0 - 2.0 * s


def densities() -> dict[str, tuple[Any, Any]]:
    """Pairs of densities of every kind, p1 and p0."""
    y, s = one()
    edges = np.linspace(-4, 5, 19)
    counts = [np.histogram(s[y == k], edges)[0] + 1 for k in (1, 0)]
    kernels = [KernelDensity(bandwidth=0.5).fit(s[y == k, None]) for k in (1, 0)]
    return {
        "normal": (stats.norm(2), stats.norm(0)),
        "wide": (stats.norm(0, 3), stats.norm(0, 1)),
        "same": (stats.norm(), stats.norm()),
        "beta": (stats.beta(4, 2), stats.beta(1, 3)),
        "uniform": (stats.uniform(0.5, 1), stats.uniform(0, 1)),
        "heavy": (stats.cauchy(1), stats.norm(0)),
        "discrete": (stats.poisson(4), stats.poisson(1)),
        "binomial": (stats.binom(10, 0.7), stats.binom(10, 0.3)),
        "kde": tuple(stats.gaussian_kde(s[y == k]) for k in (1, 0)),
        "sklearn kde": tuple(kernels),
        "histogram": tuple((heights, edges) for heights in counts),
        "rv_histogram": tuple(stats.rv_histogram((heights, edges)) for heights in counts),
        "mixed": (stats.gaussian_kde(s[y == 1]), stats.norm(0)),
    }


def regions() -> Iterator[Case]:
    for (name, pair), rate in product(densities().items(), (0.02, 0.4)):
        yield Case(f"region/{name}/{rate}", partial(region, *pair, base_rate=rate))
    for name, kind in product(METRICS, ("normal", "wide", "histogram", "discrete")):
        how = {"base_rate": 0.2, "metric": METRICS[name]}
        yield Case(f"region/{kind}/{name}", partial(region, *densities()[kind], **how))
    how = {"base_rate": 0.3, "support": (0.0, 1.0)}
    yield Case("region/functions", partial(region, _rising, _falling, **how))
    how = {"base_rate": 0.3}
    yield Case("region/functions/line", partial(region, stats.norm(1).pdf, stats.norm().pdf, **how))
    for name in ("wide", "histogram", "discrete"):
        pair = densities()[name]
        work = partial(lambda p: Answer(words=hm.decision_region(*p, 0.2)._repr_html_()), pair)
        yield Case(f"region/{name}/html", work)


def curses() -> Iterator[Case]:
    for n, rate in product((1, 10, 1000, 10**6), (1e-4, 0.01, 0.3, 0.9)):
        yield Case(f"curse/{n}/{rate}", partial(hm.simulate_winners_curse, n, rate, 50))
    for seed in (1, 2**40):
        work = partial(hm.simulate_winners_curse, 10**9, 0.001, 300, seed)
        yield Case(f"curse/seed {seed}", work)


GROUPS = (regions, curses)
