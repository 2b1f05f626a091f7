"""Response times of requests: from the first SYN, or from the request, to the last byte."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.statistics import share_within, time_quantile

if TYPE_CHECKING:
    from aqmlab.results import Result

CLASSES = (("up to 10 kB", 0.0, 1e4), ("10 to 100 kB", 1e4, 1e5), ("above 100 kB", 1e5, np.inf))
"""Classes of sizes: what it is called, and which sizes of a response it has, in bytes."""


@dataclass(frozen=True)
class Responses:
    """The requests of a run, of those that were written after its warm-up.

    Attributes
    ----------
    times : array of float
        How long each took, or had taken at the end of the run, in s.
    ended : array of bool
        Whether it had its response.
    sizes : array of float
        The size of the response, in bytes.
    handshakes : array of float
        The time until its connection was established, in s, of those that opened it; else NaN.
    timers : array of float
        Retransmission timeouts of its connection since the response before: of the client, and of
        the server.
    """

    times: Any
    ended: Any
    sizes: Any
    handshakes: Any
    timers: Any

    @classmethod
    def of(cls, result: "Result") -> "Responses":
        """Return those of a run.

        Raises
        ------
        KeyError
            If the run did not record the series `requests`.
        """
        table = {
            key: np.asarray(v) for key, v in result.columns("requests").items() if key != "flow"
        }
        end = float(result.manifest["simulated_s"])
        start, opened = table["start_s"], table["opened_s"]
        ended = np.isfinite(table["duration_s"])
        times = np.where(ended, table["duration_s"], end - start)
        opens = ~(opened <= start)  # an established connection was opened before
        handshakes = np.where(opens, np.where(np.isfinite(opened), opened, end) - start, np.nan)
        timers = np.stack([table["client_timeouts"], table["server_timeouts"]], axis=1).astype(
            float
        )
        _, flow = np.unique(result.columns("requests")["flow"], return_inverse=True)
        order = np.lexsort((table["connection"], flow))  # stable: as they were answered
        whose = np.stack([flow, table["connection"]], axis=1)[order]
        again = np.flatnonzero((whose[1:] == whose[:-1]).all(axis=1)) + 1
        timers[order[again]] -= timers[order[again - 1]]
        return cls(times, ended, table["response_bytes"].astype(float), handshakes, timers)

    def of_sizes(self, above: float, most: float) -> "Responses":
        """Return those whose response is above one size and up to another, in bytes."""
        here = (self.sizes > above) & (self.sizes <= most)
        parts = (self.times, self.ended, self.sizes, self.handshakes, self.timers)
        return Responses(*(part[here] for part in parts))

    def __len__(self) -> int:
        return len(self.times)

    def within(self, at: Any) -> Any:
        """Return which share has its response within each of some times in s."""
        return share_within(self.times, self.ended, at)

    def quantile(self, share: float) -> tuple[float, bool]:
        """Return the time within which a share has its response, and whether it is known."""
        return time_quantile(self.times, self.ended, share)

    def waited(self, longer_s: float) -> float:
        """Return which share of the handshakes took longer than a time in s."""
        asked = self.handshakes[~np.isnan(self.handshakes)]
        return float((asked > longer_s).mean()) if len(asked) else float("nan")
