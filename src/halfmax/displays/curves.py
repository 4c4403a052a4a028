"""How curves look: the defaults, and what the caller of `plot` changes."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from halfmax._core.text import spell_out
from halfmax.displays.style import GREY

CurveLook = Mapping[str, Any] | Sequence[Mapping[str, Any]] | None
_LEVEL: dict[str, Any] = {"color": GREY, "linewidth": 0.7, "linestyle": (0, (1, 2)), "zorder": 0.5}


class Looks(NamedTuple):
    """What the caller of `plot` says about the curve and the chance level."""

    curve_kwargs: CurveLook = None
    line: Mapping[str, Any] = {}
    plot_chance_level: bool = True
    chance_level_kw: Mapping[str, Any] | None = None

    def of_curves(self, default: dict[str, Any], labels: list[str]) -> list[dict[str, Any]]:
        """Return how to draw the curve of each label: the default with the caller's changes."""
        changes = _one_way(self.curve_kwargs, self.line)
        each = [changes] * len(labels) if isinstance(changes, Mapping) else list(changes)
        if len(each) != len(labels) or not all(isinstance(one, Mapping) for one in each):
            raise ValueError(
                "curve_kwargs must be a dictionary, or a list with one for each of the "
                f"{len(labels)} curves; got {changes!r:.60}"
            )
        pairs = zip(each, labels, strict=True)
        return [line_look({**default, "label": label}, one) for one, label in pairs]

    @property
    def differ(self) -> bool:
        """Whether each curve has a look of its own."""
        return self.curve_kwargs is not None and not isinstance(self.curve_kwargs, Mapping)

    def level(self) -> dict[str, Any]:
        """Return how to draw a chance level."""
        return line_look(_LEVEL, self.chance_level_kw or {})


def _one_way(curve_kwargs: CurveLook, line: Mapping[str, Any]) -> Any:
    if curve_kwargs is None:
        return line
    if line:
        raise ValueError(
            "curve_kwargs and properties of the line cannot both be passed; got curve_kwargs and "
            f"{spell_out(sorted(line))}: put all of them into curve_kwargs"
        )
    if isinstance(curve_kwargs, (Mapping, list, tuple)):
        return curve_kwargs
    raise TypeError(
        "curve_kwargs must be a dictionary, or a list of dictionaries; got "
        f"{type(curve_kwargs).__name__}"
    )


def line_look(default: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return how to draw a line: the defaults, with the caller's changes, by name or alias."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    return {**default, **normalize_kwargs(dict(changes), Line2D)}
