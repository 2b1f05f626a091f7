"""Queues at which packets arrive in batches: M[X]/M/1 and M[X]/D/1.

Batches arrive as a Poisson process, their sizes X are independent, and one server takes packets in
the order in which they came. It is the model of "The power of explicit congestion notification"
(`kuzmanovic2005ecnplus`, section 5.2.2), in which a batch is what a TCP sends in one round trip;
:mod:`aqmlab.models.bursts` makes the batches of flow sizes.

The mean number is equation (1) there, and in `kleinrock1976queueing`'s first volume, section
4.5. What it calls the matrix of transition probabilities is solved here as the recursion that
it allows: the rate at which the number rises above n is the rate at which it falls back,

    μ P(N = n+1) = λ Σ_k P(N = k) P(X > n - k),

in which every term is positive, so nothing cancels (level crossing). With constant service the
same holds from one instant to another a service time later (Crommelin's argument), with the
number of arrivals in it for X. The generating function is another way to the same numbers
(:meth:`BatchQueue.by_inversion`).

The recursion ends where what is beyond is at most :data:`LEFT_OUT`, by the bound of Chernoff,
P(N > n) ≤ E[z^N] / z^(n+1) for every z at which the expectation is finite. So X must be bounded.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from aqmlab.models.bounds import refuse_outside

Array = NDArray[np.float64]

LEFT_OUT = 1e-13
"""The most probability that lies beyond the end of a distribution."""
MOST_STATES = 20_000_000
"""The longest distribution; more would only fill the memory."""
OVERLOAD = "a queue with more work than time only grows"


@dataclass(frozen=True)
class Batches:
    """How many packets a batch has.

    Parameters
    ----------
    pmf : array of float
        P(X = k) at place k, from k = 0, which has no probability, to the largest batch.

    Examples
    --------
    >>> batches = Batches.of({1: 1, 2: 1, 4: 1})  # what a flow of 7 packets sends in 3 round trips
    >>> round(batches.mean, 4), batches.mean_square, round(batches.packets_a_batch_seen, 4)
    (2.3333, 7.0, 3.0)
    """

    pmf: Array

    def __post_init__(self) -> None:
        pmf = np.asarray(self.pmf, dtype=float)
        if pmf.ndim != 1 or len(pmf) < 2 or not np.isfinite(pmf).all() or (pmf < 0).any():
            raise ValueError(
                "batches: probabilities must be a list of numbers, 0 or more, from size 0 on; "
                "Batches.of({size: weight}) makes one"
            )
        if pmf[0]:
            raise ValueError(f"batches: size 0 has probability {pmf[0]:g} and must have none")
        if not math.isclose(pmf.sum(), 1, abs_tol=1e-9):
            raise ValueError(f"batches: probabilities must have the sum 1, not {pmf.sum():g}")
        object.__setattr__(self, "pmf", np.trim_zeros(pmf / pmf.sum(), "b"))

    @classmethod
    def of(cls, weights: Mapping[int, float]) -> Self:
        """Return batches by how often each size (packets, 1 or more) comes, in any unit.

        Raises
        ------
        ValueError
            If a size is no whole number from 1 on, or no weight is positive.
        """
        for size, weight in weights.items():
            if size < 1 or size != int(size):
                raise ValueError(f"batches: size {size:g} must be a whole number, 1 or more")
            refuse_outside(f"batches: weight of {size}", weight, 0, open_low=False)
        total = sum(weights.values())
        if not total > 0:
            raise ValueError("batches: no size has a weight above 0; give one")
        pmf = np.zeros(max(map(int, weights)) + 1)
        for size, weight in weights.items():
            pmf[int(size)] = weight / total
        return cls(pmf)

    @property
    def mean(self) -> float:
        """E[X], in packets."""
        return float(np.arange(len(self.pmf)) @ self.pmf)

    @property
    def mean_square(self) -> float:
        """E[X²], in packets²."""
        return float(np.arange(len(self.pmf), dtype=float) ** 2 @ self.pmf)

    @property
    def packets_a_batch_seen(self) -> float:
        """E[X²]/E[X]: the mean size of the batch that a packet is in."""
        return self.mean_square / self.mean

    @cached_property
    def above(self) -> Array:
        """P(X > k) at place k, from k = 0."""
        above: Array = np.maximum(self.pmf[::-1].cumsum()[::-1][1:], 0)
        return above

    def transform(self, z: Any) -> Any:
        """Return E[z^X], for a number or an array of them."""
        return np.polynomial.polynomial.polyval(z, self.pmf)


@dataclass(frozen=True)
class BatchQueue(ABC):
    """A queue at which batches arrive as a Poisson process.

    Parameters
    ----------
    load : float
        ρ, the share of time that the server is busy; above 0, below 1.
    batches : Batches
        The sizes of batches.
    service_s : float
        Mean service time of a packet, in s; default 1, so that times are in services.
    """

    load: float
    batches: Batches = field(default_factory=lambda: Batches.of({1: 1}))
    service_s: float = 1.0

    VARIATION = 1.0
    """The squared coefficient of variation of service times."""

    def __post_init__(self) -> None:
        refuse_outside("load", self.load, 0, 1, OVERLOAD)
        refuse_outside("service_s", self.service_s, 0)

    @property
    def rate(self) -> float:
        """Batches that arrive in a service time."""
        return self.load / self.batches.mean

    @property
    def mean_work(self) -> float:
        """E[V], in s: the mean of the unfinished work, which is what a batch waits."""
        m = self.batches.packets_a_batch_seen
        return self.service_s * self.load * (self.VARIATION + m) / (2 * (1 - self.load))

    @property
    def mean_wait(self) -> float:
        """Mean wait of a packet before its service, in s: for the work, and in its own batch."""
        return self.mean_work + self.service_s * (self.batches.packets_a_batch_seen - 1) / 2

    @property
    def mean_queue(self) -> float:
        """Mean number that waits, without the one in service, in packets (Little)."""
        return self.load * self.mean_wait / self.service_s

    @property
    def mean_system(self) -> float:
        """Mean number in the system, in packets: equation (1) where service is exponential."""
        return self.mean_queue + self.load

    @abstractmethod
    def transform(self, z: Any) -> Any:
        """Return E[z^N], N the number in the system; its pole beyond 1 is a root of `_pole`."""

    @abstractmethod
    def _pole(self, z: float) -> float:
        """Return what is below 0 from 1 on and becomes 0 at the pole of `transform`."""

    @abstractmethod
    def _solve(self, size: int) -> Array:
        """Return P(N = n) for n below `size`, by the recursion."""

    @cached_property
    def decay(self) -> float:
        """The pole z₀ of E[z^N]: P(N > n) falls as z₀^(-n)."""
        from scipy.optimize import brentq

        step, low = 1e-9, 1.0
        while self._pole(1 + step) < 0:
            low, step = 1 + step, 2 * step
        return float(brentq(self._pole, low, 1 + step, xtol=1e-15))

    def size(self, left_out: float = LEFT_OUT) -> int:
        """Return how many n it takes for P(N ≥ size) to be at most `left_out`.

        Raises
        ------
        ValueError
            If they are too many: the load is too near to 1.
        """
        least = math.inf
        for part in (0.5, 0.8, 0.9, 0.95, 0.98):
            z = 1 + part * (self.decay - 1)
            least = min(least, math.log(abs(self.transform(z)) / left_out) / math.log(z))
        if not least < MOST_STATES:
            raise ValueError(
                f"load: {self.load:g} is so near to 1 that the queue has {least:.3g} lengths; "
                "lower it, or take the mean, which is exact"
            )
        return math.ceil(least) + 1

    @cached_property
    def pmf(self) -> Array:
        """P(N = n), N the number in the system: waiting and in service, at any time."""
        return self._solve(self.size())

    def by_inversion(self, size: int | None = None) -> Array:
        """Return P(N = n) for n below `size` from the generating function alone.

        Its coefficients are a Fourier sum over a circle of radius below 1 (Abate & Whitt 1992,
        `abate1992inversion`): the mistake is at most 10⁻⁸ P(N ≥ 2 size), and rounding 10⁻¹².
        """
        size = size or self.size()
        points = 2 * size
        radius = 10 ** (-8 / points)
        z = radius * np.exp(-2j * np.pi * np.arange(points) / points)
        found = np.fft.ifft(self.transform(z)).real
        return found[:size] * radius ** -np.arange(size)

    def exceeds(self, packets: float) -> float:
        """Return P(N > packets): the share of time that more are in the system."""
        return float(self.pmf[math.floor(packets) + 1 :].sum()) if packets >= 0 else 1.0

    @abstractmethod
    def work_exceeds(self, seconds: float) -> float:
        """Return P(V > seconds): a batch, or who looks at any time, waits longer than that."""

    @abstractmethod
    def wait_exceeds(self, seconds: float) -> float:
        """Return the share of packets that wait longer than that, in s, before their service."""


class MxM1(BatchQueue):
    """M[X]/M/1: exponential service times.

    Examples
    --------
    A flow of 7 packets that sends 2, 4 and 1, at load 0.8, by equation (1):

    >>> queue = MxM1(0.8, Batches.of({1: 1, 2: 1, 4: 1}))
    >>> round(queue.mean_system, 9), round(queue.mean_queue, 9)
    (8.0, 7.2)
    >>> round(float(np.arange(len(queue.pmf)) @ queue.pmf), 9)
    8.0
    """

    def transform(self, z: Any) -> Any:
        """Return E[z^N] = (1-ρ)/(1 - (λ/μ) z Σ_k P(X > k) z^k)."""
        above = np.polynomial.polynomial.polyval(z, self.batches.above)
        return (1 - self.load) / (1 - self.rate * z * above)

    def _pole(self, z: float) -> float:
        above = np.polynomial.polynomial.polyval(z, self.batches.above)
        return float(self.rate * z * above) - 1

    def _solve(self, size: int) -> Array:
        from scipy.signal import lfilter

        start = np.zeros(size)
        start[0] = 1 - self.load
        taps = np.concatenate([[1], -self.rate * self.batches.above])
        found: Array = lfilter([1.0], taps, start)
        return found

    def work_exceeds(self, seconds: float) -> float:
        """Return P(V > seconds): n packets are n exponential times, an Erlang time."""
        return self._erlang(self.pmf, seconds)

    def wait_exceeds(self, seconds: float) -> float:
        """Return the share of packets that wait longer than that, in s, before their service."""
        return self._erlang(self._ahead, seconds)

    @cached_property
    def _ahead(self) -> Array:
        """P(n are before a packet): those that were there, and those before it in its batch."""
        from scipy.signal import oaconvolve

        found: Array = oaconvolve(self.pmf, self.batches.above / self.batches.mean)
        return np.maximum(found, 0)

    def _erlang(self, ahead: Array, seconds: float) -> float:
        from scipy.special import gammaincc

        if seconds < 0:
            return 1.0
        n = np.arange(1, len(ahead))
        return float(ahead[1:] @ gammaincc(n, seconds / self.service_s))


class MxD1(BatchQueue):
    """M[X]/D/1: constant service times, as of packets of one size on a link.

    Examples
    --------
    >>> queue = MxD1(0.8, Batches.of({1: 1, 2: 1, 4: 1}))
    >>> round(queue.mean_system, 9), round(queue.mean_work, 9)
    (6.4, 6.0)
    """

    VARIATION = 0.0

    def transform(self, z: Any) -> Any:
        """Return E[z^N] = (1-ρ)(1-z) A(z)/(A(z) - z), A(z) = e^(-λs(1-X(z)))."""
        a = np.exp(self.rate * (self.batches.transform(z) - 1))
        return (1 - self.load) * (1 - z) * a / (a - z)

    def _pole(self, z: float) -> float:
        """Return ln A(z) - ln z, over z - 1 so that 1 itself is no root."""
        above = float(np.polynomial.polynomial.polyval(z, self.batches.above))
        return self.rate * above - math.log1p(z - 1) / (z - 1)

    def arrivals(self, services: float) -> Array:
        """Return how many packets arrive in a time of so many services: e^(-λt(1 - X(z))).

        A power series, by the powers of X up to where they are below 10⁻²⁰. A negative time,
        down to -1, gives the series that undoes the positive one.
        """
        from scipy.signal import oaconvolve

        rate, x = self.rate * services, self.batches.pmf
        power, weight, found = np.ones(1), math.exp(-rate), np.array([math.exp(-rate)])
        n = 0
        while abs(weight) > 1e-20 or n < abs(rate):
            n += 1
            power, weight = np.maximum(oaconvolve(power, x), 0), weight * rate / n
            found = np.pad(found, (0, len(power) - len(found))) + weight * power
        return found

    def _solve(self, size: int) -> Array:
        from scipy.signal import lfilter

        arrivals = self.arrivals(1)
        above = np.maximum(arrivals[::-1].cumsum()[::-1] - arrivals, 0)
        start = np.zeros(size)
        start[0] = 1 - self.load
        rest = lfilter(
            np.concatenate([[0], above]), np.concatenate([arrivals[:1], -above[1:]]), start
        )
        found: Array = start + rest
        return found

    def work_exceeds(self, seconds: float) -> float:
        """Return P(V > seconds)."""
        if seconds < 0:
            return 1.0
        n, part = divmod(seconds / self.service_s, 1)
        return self._beyond(int(n), self._at_most(part))

    def _at_most(self, part: float) -> Array:
        """Return P(V ≤ (n + part) services), n from 0 on, for a part of a service.

        After n whole services more than n packets are left of those that were there, if and only
        if the work was more. In the part of a service all stay that arrive; so they are taken off
        the number at its end, by a division by their generating function.
        """
        from scipy.signal import oaconvolve

        below = self.pmf.cumsum()
        if part < 1e-12:
            return below
        found: Array = oaconvolve(below, self.arrivals(-part))[: len(below)]
        return found

    @staticmethod
    def _beyond(n: int, at_most: Array) -> float:
        return max(0.0, 1 - float(at_most[n])) if n < len(at_most) else 0.0

    def wait_exceeds(self, seconds: float) -> float:
        """Return the share of packets that wait longer than that, in s, before their service."""
        if seconds < 0:
            return 1.0
        ahead = self.batches.above / self.batches.mean
        n, part = divmod(seconds / self.service_s, 1)
        at_most = self._at_most(part)
        left = int(n) - np.arange(len(ahead))
        beyond = np.where(left < len(at_most), 1 - at_most[np.clip(left, 0, len(at_most) - 1)], 0)
        return float(ahead @ np.where(left < 0, 1.0, np.maximum(beyond, 0)))
