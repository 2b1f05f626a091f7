"""Response times of requests, by size of the response.

A response time begins with the first SYN of the connection, or with the request on an open
connection, and ends with the last byte of the response.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.statistics import share_within, time_quantile

if TYPE_CHECKING:
    from aqmlab.results import Result


@dataclass(frozen=True)
class Responses:
    """Requests that the clients of a run sent after the warm-up.

    Attributes
    ----------
    times : array of float
        Response time in s. If the response is incomplete, `times` has the time until the end of the
        run.
    ended : array of bool
        True for each request whose response is complete.
    sizes : array of float
        Size of the response in bytes.
    handshakes : array of float
        Duration of the TCP handshake in s, for each request that opened its connection. If the
        connection was not established, `handshakes` has the time until the end of the run. NaN for
        a request on an open connection.
    timeouts : array of float
        Number of retransmission timeouts since the previous response on the connection. The first
        column has the timeouts of the client, the second those of the server.
    """

    times: Any
    ended: Any
    sizes: Any
    handshakes: Any
    timeouts: Any

    @classmethod
    def of(cls, result: "Result") -> "Responses":
        """Return the requests of a run, with their response times.

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
        opens = ~(opened <= start)  # An established connection was opened before the request.
        handshakes = np.where(opens, np.where(np.isfinite(opened), opened, end) - start, np.nan)
        timeouts = np.stack([table["client_timeouts"], table["server_timeouts"]], axis=1).astype(
            float
        )
        _, flow = np.unique(result.columns("requests")["flow"], return_inverse=True)
        # The sort by connection is stable, so that the requests of each connection stay in the
        # order of their responses.
        order = np.lexsort((table["connection"], flow))
        connections = np.stack([flow, table["connection"]], axis=1)[order]
        later = np.flatnonzero((connections[1:] == connections[:-1]).all(axis=1)) + 1
        timeouts[order[later]] -= timeouts[order[later - 1]]
        return cls(times, ended, table["response_bytes"].astype(float), handshakes, timeouts)

    def of_sizes(self, above: float, at_most: float) -> "Responses":
        """Return the requests whose response is larger than `above` and at most `at_most` bytes."""
        selected = (self.sizes > above) & (self.sizes <= at_most)
        arrays = (self.times, self.ended, self.sizes, self.handshakes, self.timeouts)
        return Responses(*(array[selected] for array in arrays))

    def __len__(self) -> int:
        return len(self.times)

    def within(self, at: Any) -> Any:
        """Return the share of requests whose response time is at most t s, for each t in `at`."""
        return share_within(self.times, self.ended, at)

    def quantile(self, share: float) -> tuple[float, bool]:
        """Return a quantile of the response time in s, and True; or a lower bound, and False."""
        return time_quantile(self.times, self.ended, share)

    def slow_handshakes(self, longer_s: float) -> float:
        """Return the share of handshakes longer than `longer_s`; NaN without handshakes."""
        handshakes = self.handshakes[~np.isnan(self.handshakes)]
        return float((handshakes > longer_s).mean()) if len(handshakes) else float("nan")
