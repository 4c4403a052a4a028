"""What thresholds are turned into elsewhere: pictures."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from halfmax._core.hooks import hook

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Outlets:
    """Thresholds as pictures."""

    def plot(self, ax: "Axes | None" = None, label: Hashable | None = None, **how: Any) -> Any:
        """Draw the thresholds.

        One classifier, or one of many labels, is drawn as the metric, precision and recall at every
        threshold, with the chosen one marked; this needs the data that were tuned. Many labels are
        drawn as how often each is predicted and occurs or, if the data are not in memory, against
        the thresholds of calibrated probabilities. Notebooks show the same pictures. It needs
        ``pip install 'halfmax[report]'``.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure if None.
        label : hashable, optional
            Which of many labels to draw: its name, or its position if labels have no names.
        **how : dict
            Further arguments of the display's ``from_thresholds`` and ``plot``.

        Returns
        -------
        ThresholdCurveDisplay, LabelHealthDisplay or HalfMaxDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the label is unknown, or the picture needs data that the thresholds do not know.
        """
        return hook("plot_thresholds")(self, ax, label, how)
