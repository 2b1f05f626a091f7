"""Conversion of flow sizes to the bursts that TCP sends per round trip.

In the first round trip, a flow sends its initial window. In each further round trip, the flow sends
as many packets as its window allows, up to the advertised window of the receiver. In the last round
trip, the flow sends its remaining packets. The source of the conversion is "The power of explicit
congestion notification" (`kuzmanovic2005ecnplus`, section 5.2.2, "file-to-burst-size
transformations"). A flow is therefore a sequence of bursts. The model assumes that each burst is an
independent random sample from the bursts of all flows.

The study describes the start of a flow in two ways. A short flow, which never reaches the
advertised window, sends bursts of 2, 4, 8, … packets. A long flow sends bursts of 1, 2, 4, …, Wmax,
Wmax, … packets. The parameter `initial_window` is the first burst of a short flow, and
`long_initial_window` that of a long flow. For a short flow of s packets, the study states a
remainder of s mod (2ⁿ - 1). If the first burst has 2 packets, the sum of the bursts and the
remainder s mod (2ⁿ - 1) is not the flow size s. In this module, the remainder of a flow is s minus
the sum of its earlier bursts.

Flow sizes are given as a weight for each size in packets, or as a sample of sizes in packets.
:func:`packets_of` converts a sample of sizes in bytes, for example the response sizes of a web
server.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aqmlab.models.batch_queue import Batches
from aqmlab.models.bounds import refuse_outside

ADVERTISED = {8 * 1024: 0.20, 16 * 1024: 0.35, 64 * 1024: 0.45}
"""Share of the flows with each advertised window in bytes, from footnote 4 of the study."""
PACKET = 1000
"""Data bytes per packet, because the study equates mean flow sizes of 7.2 kB and 7.22 packets."""

Counts = NDArray[np.float64]


@dataclass(frozen=True)
class Ramp:
    """Growth of the window of a flow.

    Parameters
    ----------
    initial_window : float
        Number of packets in the first burst, at least 1; default 2, as in the study, which cites
        RFC 2581.
    long_initial_window : float, optional
        Number of packets in the first burst of a flow that reaches the advertised window; default:
        `initial_window`.
    growth : float
        Ratio of a burst to the previous burst, above 1. The default ratio, 2, is that of slow start
        with one ACK per packet. If the receiver sends one ACK per two packets, each burst is 1.5
        times as large as the previous burst.

    Examples
    --------
    >>> STATED.bursts(7, 64), STATED.bursts(30, 8)
    ([2, 4, 1], [1, 2, 4, 8, 8, 7])
    >>> Ramp(growth=1.5).bursts(20, 64)
    [2, 3, 4, 7, 4]
    """

    initial_window: float = 2
    long_initial_window: float | None = None
    growth: float = 2

    def __post_init__(self) -> None:
        for name in ("initial_window", "long_initial_window"):
            value = getattr(self, name)
            if value is not None:
                refuse_outside(
                    name, value, 1, open_low=False, remedy="a burst has at least one packet"
                )
        refuse_outside("growth", self.growth, 1, remedy="in slow start, growth is 1.5 or 2")

    def below(self, window: int, *, long: bool = False) -> list[int]:
        """Return the bursts of a flow that are smaller than the advertised window, in packets."""
        size = self.initial_window
        if long and self.long_initial_window is not None:
            size = self.long_initial_window
        sizes = []
        while round(size) < window:
            sizes.append(round(size))
            size *= self.growth
        return sizes

    def bursts(self, packets: int, window: int) -> list[int]:
        """Return all bursts of one flow, in packets."""
        counts: list[int] = []
        long = packets > sum(self.below(window))
        ahead = iter(self.below(window, long=long))
        while packets > 0:
            counts.append(min(packets, next(ahead, window)))
            packets -= counts[-1]
        return counts

    def count(self, sizes: NDArray[np.int64], weights: Counts, window: int) -> Counts:
        """Return the weighted number of bursts of each size, over all flows."""
        counts = np.zeros(window + 1)
        is_long = sizes > sum(self.below(window))
        for long in (False, True):
            of, weight = sizes[is_long == long], weights[is_long == long]
            for burst in self.below(window, long=long):
                whole = of >= burst
                counts[burst] += weight[whole].sum()
                np.add.at(counts, of[~whole], weight[~whole])
                of, weight = (of - burst)[whole], weight[whole]
            counts[window] += (of // window) @ weight
            np.add.at(counts, of % window, weight)
        counts[0] = 0
        return counts


STATED = Ramp(initial_window=2, long_initial_window=1)
"""Growth of the windows that the study states: short flows send 2, 4, …, long flows 1, 2, 4, …."""
EVERY_FLOW_FROM_2 = Ramp(initial_window=2)
EVERY_FLOW_FROM_1 = Ramp(initial_window=1)
DELAYED_ACKS = Ramp(initial_window=2, growth=1.5)


def packets_of(sizes: ArrayLike, packet: int = PACKET) -> NDArray[np.int64]:
    """Convert flow sizes in bytes to numbers of packets; `packet` is the MSS in bytes.

    Raises
    ------
    ValueError
        If a size is 0 or below.

    Examples
    --------
    >>> packets_of([1, 1000, 7200]).tolist()
    [1, 1, 8]
    """
    refuse_outside("packet", packet, 1, open_low=False, remedy="it is the MSS in bytes")
    values = np.asarray(sizes, dtype=float)
    if values.size == 0:
        raise ValueError("sizes: the list is empty; give at least one size")
    refuse_outside("sizes: the minimum", float(values.min()), 0, remedy="remove empty flows")
    return np.ceil(values / packet).astype(np.int64)


def batches(
    flows: "Mapping[int, float] | Iterable[int] | ArrayLike",
    *,
    ramp: Ramp = STATED,
    windows: Mapping[float, float] | None = None,
    packet: int = PACKET,
) -> Batches:
    """Return the distribution of the burst sizes of flows; each burst is a batch of a queue model.

    Parameters
    ----------
    flows : mapping or list
        Flow sizes in packets: a mapping from sizes to weights, or a sample of sizes.
    ramp : Ramp
        Growth of the windows; default :data:`STATED`.
    windows : mapping, optional
        Weight of the flows with each advertised window in bytes; default :data:`ADVERTISED`.
    packet : int
        Data bytes per packet, to convert advertised windows to packets.

    Raises
    ------
    ValueError
        If a size is not a positive whole number, or every weight is 0.

    Examples
    --------
    >>> of = batches({7: 1}, windows={65536: 1})
    >>> [round(p, 3) for p in of.pmf.tolist()]
    [0.0, 0.333, 0.333, 0.0, 0.333]
    """
    sizes, weights = _weighted(flows)
    total: Counts = np.zeros(1)
    shares = ADVERTISED if windows is None else windows
    for window, share in shares.items():
        refuse_outside("windows: a share", share, 0, open_low=False)
        refuse_outside("windows: a window", window, packet, open_low=False,
                       remedy="a window must have at least one packet")  # fmt: skip
        of = share * ramp.count(sizes, weights, int(window // packet))
        short, long = sorted((total, of), key=len)
        total = long + np.pad(short, (0, len(long) - len(short)))
    return Batches.of({size: float(n) for size, n in enumerate(total) if n > 0})


def of_responses(sizes: ArrayLike, packet: int = PACKET, **options: Any) -> Batches:
    """Return the distribution of the burst sizes of responses, as batches for a queue.

    `options` are those of :func:`batches`. The response sizes are in bytes. Each response is
    assumed to have a separate connection, which starts with the initial window.

    Examples
    --------
    >>> of = of_responses([7000, 7000, 300], windows={65536: 1})
    >>> round(of.mean, 4), round(of.packets_a_batch_seen, 4)
    (2.1429, 2.8667)
    """
    return batches(packets_of(sizes, packet), packet=packet, **options)


def _weighted(flows: Any) -> tuple[NDArray[np.int64], Counts]:
    """Return the distinct flow sizes and their weights."""
    if isinstance(flows, Mapping):
        values = np.array(list(flows), dtype=float)
        weights = np.array(list(flows.values()), dtype=float)
    else:
        values, weights = np.unique(np.asarray(list(flows), dtype=float), return_counts=True)
        weights = weights.astype(float)
    if not len(values) or (values < 1).any() or (values != np.floor(values)).any():
        raise ValueError(
            "flows: give one or more sizes as whole numbers of packets, 1 or more; packets_of "
            "converts bytes to packets"
        )
    if (weights < 0).any() or not weights.sum() > 0:
        raise ValueError(
            "flows: the weights are not valid; give weights of 0 or more, of which at least one is "
            "above 0"
        )
    return values.astype(np.int64), weights


def shape_of(top: float, share: float) -> tuple[float, float]:
    """Return σ of a lognormal, and the exponent of a Pareto distribution of flow sizes.

    In both distributions, the largest flows, which are a share `top` of all flows, have a share
    `share` of all bytes. In the web traffic of the study, 15 % of the flows have 80 % of the bytes
    (section 4.2). The flow sizes of the study are not published.

    Examples
    --------
    >>> [round(x, 4) for x in shape_of(0.15, 0.8)]
    [1.8781, 1.1333]
    """
    from scipy.stats import norm

    refuse_outside("top", top, 0, 1)
    refuse_outside(
        "share", share, top, 1, "the largest flows must have more than an equal share of the bytes"
    )
    sigma = norm.ppf(share) + norm.ppf(1 - top)
    return float(sigma), float(1 / (1 - np.log(share) / np.log(top)))


def lognormal_sizes(mean: float, sigma: float, most: int = 100_000) -> dict[int, float]:
    """Return the probability of each flow size in packets, for a lognormal distribution.

    A flow with more than `most` packets counts as a flow with `most` packets.

    Examples
    --------
    >>> sizes = lognormal_sizes(7.2, 1.8781)
    >>> round(sum(sizes.values()), 9), round(sizes[1], 3)
    (1.0, 0.455)
    """
    from scipy.stats import norm

    refuse_outside("mean", mean, 0)
    refuse_outside("sigma", sigma, 0)
    edges = (np.log(np.arange(1, most) / mean) + sigma**2 / 2) / sigma
    below = np.concatenate([[0], norm.cdf(edges), [1]])
    return {size + 1: float(p) for size, p in enumerate(np.diff(below)) if p > 0}
