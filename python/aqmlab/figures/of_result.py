"""Figures of a run as methods of ``result.plot``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aqmlab.figures import flow as of_flow
from aqmlab.figures import run as of_run
from aqmlab.figures.files import inline

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aqmlab.figures.flow import Times
    from aqmlab.results import Result

WHOLE: Times = (None, None)


class Plots:
    """Figures of a run; each method returns a Matplotlib figure.

    Parameters
    ----------
    result : Result
        Result of the run.

    Examples
    --------
    >>> import aqmlab
    >>> result = aqmlab.run("examples/one_flow.toml")
    >>> result.plot.queue("left>right").axes[0].get_ylabel()
    'queue (packets)'
    """

    def __init__(self, result: Result) -> None:
        self._result = result

    def __repr__(self) -> str:
        return "<Plots of a run: queue(), window(), sequence() and rtt()>"

    def queue(self, link: str | None = None, times: Times = WHOLE) -> Figure:
        """Plot the queue of a link over time; default: the busiest link with a recorded queue.

        The run must record the series "queue"; see :func:`aqmlab.figures.queue` for the errors.
        """
        return of_run.queue(self._result, link, times)

    def small_queue(self) -> str:
        """Return the figure of :meth:`queue` as a small SVG element, for a notebook."""
        return inline(of_run.queue(self._result, size=(4.8, 2.8)))

    def window(self, flow: str | None = None, times: Times = WHOLE) -> Figure:
        """Plot the windows of a flow over time, or the congestion windows of all flows.

        The run must record the series "window"; see :func:`aqmlab.figures.windows` for the errors.
        """
        if flow is None:
            return of_run.window(self._result)
        return of_flow.windows(self._result, flow, times)

    def sequence(
        self, flow: str | None = None, times: Times | None = None, *, reply: bool = False
    ) -> Figure:
        """Plot the segments and ACKs of a flow over time; default: the first flow.

        The run must record the series "segments"; see :func:`aqmlab.figures.sequence` for the
        parameters and the errors.
        """
        return of_flow.sequence(self._result, flow, times, reply=reply)

    def rtt(self, flow: str | None = None, times: Times = WHOLE, *, reply: bool = False) -> Figure:
        """Plot the round-trip times of a flow over time; default: the first flow.

        The run must record the series "rtt"; see :func:`aqmlab.figures.rtt` for the parameters and
        the errors.
        """
        return of_flow.rtt(self._result, flow, times, reply=reply)
