"""The batches in which TCP sends flows: from flow sizes to what one round trip brings.

A flow sends an initial window, then in each round trip as much more as its window grew, up to
the window that its receiver advertises, and what is left at the end ("The power of explicit
congestion notification", `kuzmanovic2005ecnplus`, section 5.2.2, "file-to-burst-size
transformations"). So a flow is a row of bursts, and a burst of a mix of flows is one of all
their bursts.

The study has two readings of the beginning, and states both: a short flow, which never reaches
the advertised window, sends 2, 4, 8, …, and a long one 1, 2, 4, …, Wmax, Wmax, …
`initial_window` is the first, `long_initial_window` the second. Its remainder of a short flow
is printed as s mod (2ⁿ - 1), which does not add up to s with bursts that begin with 2; here it
is what is left.

Sizes come as any of three: weights by size in packets, a sample in packets, or in bytes
(:func:`packets_of`), as the list of responses of a web server is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aqmlab.models.batch_queue import Batches
from aqmlab.models.bounds import refuse_outside

ADVERTISED = {8 * 1024: 0.20, 16 * 1024: 0.35, 64 * 1024: 0.45}
"""Share of flows by the window that is advertised to them, in bytes (the study's footnote 4)."""
PACKET = 1000
"""Bytes of data in a packet where the study has 7.2 kB and 7.22 packets for the same mean."""

Counts = NDArray[np.float64]


@dataclass(frozen=True)
class Ramp:
    """How a flow's window grows.

    Parameters
    ----------
    initial_window : float
        Packets of the first burst; at least 1. Default 2 (the study, by RFC 2581).
    long_initial_window : float, optional
        The same for flows that reach the advertised window; default: `initial_window`.
    growth : float
        Factor from one burst to the next; above 1. Default 2, slow start with an ACK a packet; with
        an ACK for every other packet it is 1.5.

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
                refuse_outside(name, value, 1, open_low=False, remedy="the first burst is a packet")
        refuse_outside("growth", self.growth, 1, remedy="1.5 and 2 are slow start's")

    def below(self, window: int, *, long: bool = False) -> list[int]:
        """Return the bursts that are smaller than the advertised window, in packets."""
        size = self.initial_window
        if long and self.long_initial_window is not None:
            size = self.long_initial_window
        found = []
        while round(size) < window:
            found.append(round(size))
            size *= self.growth
        return found

    def bursts(self, packets: int, window: int) -> list[int]:
        """Return the bursts of one flow, in packets."""
        counts: list[int] = []
        long = packets > sum(self.below(window))
        ahead = iter(self.below(window, long=long))
        while packets > 0:
            counts.append(min(packets, next(ahead, window)))
            packets -= counts[-1]
        return counts

    def count(self, sizes: NDArray[np.int64], weights: Counts, window: int) -> Counts:
        """Return how many bursts of each size flows send, weighted; all flows at once."""
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
"""As the study states it: short flows 2, 4, …; long ones 1, 2, 4, …"""
EVERY_FLOW_FROM_2 = Ramp(initial_window=2)
EVERY_FLOW_FROM_1 = Ramp(initial_window=1)
DELAYED_ACKS = Ramp(initial_window=2, growth=1.5)


def packets_of(sizes: ArrayLike, packet: int = PACKET) -> NDArray[np.int64]:
    """Return how many packets flows of so many bytes have; `packet`: bytes of data in one (MSS).

    Raises
    ------
    ValueError
        If a size is not above 0.

    Examples
    --------
    >>> packets_of([1, 1000, 7200]).tolist()
    [1, 1, 8]
    """
    refuse_outside("packet", packet, 1, open_low=False, remedy="it is the MSS in bytes")
    found = np.asarray(sizes, dtype=float)
    if found.size == 0:
        raise ValueError("sizes: there are none; give at least one")
    refuse_outside("sizes: the least", float(found.min()), 0, remedy="leave empty flows out")
    return np.ceil(found / packet).astype(np.int64)


def batches(
    flows: "Mapping[int, float] | Iterable[int] | ArrayLike",
    *,
    ramp: Ramp = STATED,
    windows: Mapping[float, float] | None = None,
    packet: int = PACKET,
) -> Batches:
    """Return the batches that flows of these sizes bring to a queue.

    Parameters
    ----------
    flows : mapping or list
        Flow sizes in packets: how often each comes, or a sample of them.
    ramp : Ramp
        How their windows grow; default: as the study states it.
    windows : mapping, optional
        Share of flows by advertised window in bytes, in any unit; default :data:`ADVERTISED`.
    packet : int
        Bytes of data in a packet: what an advertised window is divided by.

    Raises
    ------
    ValueError
        If a size is no whole number from 1 on, or no flow has a weight.

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
                       remedy="a window holds a packet at least")  # fmt: skip
        of = share * ramp.count(sizes, weights, int(window // packet))
        short, long = sorted((total, of), key=len)
        total = long + np.pad(short, (0, len(long) - len(short)))
    return Batches.of({size: float(n) for size, n in enumerate(total) if n > 0})


def of_responses(sizes: ArrayLike, packet: int = PACKET, **options: Any) -> Batches:
    """Return the batches of responses of so many bytes each: those of a list of requests.

    `options` are those of :func:`batches`. Every response is taken for a connection of its own that
    begins with the initial window.

    Examples
    --------
    >>> of = of_responses([7000, 7000, 300], windows={65536: 1})
    >>> round(of.mean, 4), round(of.packets_a_batch_seen, 4)
    (2.1429, 2.8667)
    """
    return batches(packets_of(sizes, packet), packet=packet, **options)


def _weighted(flows: Any) -> tuple[NDArray[np.int64], Counts]:
    """Return sizes that differ, and their weights."""
    if isinstance(flows, Mapping):
        found = np.array(list(flows), dtype=float)
        weights = np.array(list(flows.values()), dtype=float)
    else:
        found, weights = np.unique(np.asarray(list(flows), dtype=float), return_counts=True)
        weights = weights.astype(float)
    if not len(found) or (found < 1).any() or (found != np.floor(found)).any():
        raise ValueError(
            "flows: sizes must be whole numbers of packets, 1 or more; "
            "packets_of makes them of bytes"
        )
    if (weights < 0).any() or not weights.sum() > 0:
        raise ValueError("flows: weights must be 0 or more, and one above 0")
    return found.astype(np.int64), weights


def shape_of(top: float, share: float) -> tuple[float, float]:
    """Return the sigma of a lognormal, and the exponent of a Pareto, distribution of flow sizes.

    In both the largest `top` of all flows have `share` of all bytes, as 15 % have 80 % in the
    study's web traffic (section 4.2), whose own list of sizes it does not print.

    Examples
    --------
    >>> [round(x, 4) for x in shape_of(0.15, 0.8)]
    [1.8781, 1.1333]
    """
    from scipy.stats import norm

    refuse_outside("top", top, 0, 1)
    refuse_outside("share", share, top, 1, "the largest have more than their part")
    sigma = norm.ppf(share) + norm.ppf(1 - top)
    return float(sigma), float(1 / (1 - np.log(share) / np.log(top)))


def lognormal_sizes(mean: float, sigma: float, most: int = 100_000) -> dict[int, float]:
    """Return P(a flow has so many packets) for lognormal sizes of this mean, in packets.

    What is beyond `most` packets counts as `most`.

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
