"""Queues with batch arrivals: M[X]/M/1 and M[X]/D/1.

Batches of packets arrive in a Poisson process. The sizes X of the batches are independent, and one
server serves the packets in the order of their arrival. In the model of "The power of explicit
congestion notification" (`kuzmanovic2005ecnplus`, section 5.2.2), a batch is the burst that TCP
sends in one round trip. :mod:`aqmlab.models.bursts` converts flow sizes to batches.

The mean number of packets is equation (1) of this study; the equation is also in the first volume
of `kleinrock1976queueing`, section 4.5. The study solves a matrix of transition probabilities. This
module computes the distribution of the number of packets by a recursion. In equilibrium, the rate
of transitions from at most n packets to more than n packets equals the rate of the opposite
transitions:

    μ P(N = n+1) = λ Σ_k P(N = k) P(X > n - k).

All terms of this sum are positive, so it loses no digits by cancellation (level crossing). For
constant service times, the equation compares the queue at two times that are one service time apart
(Crommelin's argument). In this case, X is the number of packets that arrive between the two times.
:meth:`BatchQueue.by_inversion` computes the same numbers from the generating function.

The recursion ends when the probability of all larger numbers is at most :data:`LEFT_OUT`.
Chernoff's bound P(N > n) ≤ E[z^N] / z^(n+1) determines the n at which the recursion ends. The bound
is valid for every z > 1 for which E[z^N] is finite. The batch size X must therefore be bounded.
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
"""Maximum probability of all values beyond the computed end of a distribution."""
MOST_STATES = 20_000_000
"""Maximum number of values of a distribution, because more values would fill the memory."""
OVERLOAD = "at load 1 or more, the queue grows without limit"


@dataclass(frozen=True)
class Batches:
    """Distribution of the number of packets per batch.

    Parameters
    ----------
    pmf : array of float
        P(X = k) at index k, up to the largest batch. The probability at index 0 must be 0.

    Examples
    --------
    >>> batches = Batches.of({1: 1, 2: 1, 4: 1})  # bursts of a flow of 7 packets in 3 round trips
    >>> round(batches.mean, 4), batches.mean_square, round(batches.packets_a_batch_seen, 4)
    (2.3333, 7.0, 3.0)
    """

    pmf: Array

    def __post_init__(self) -> None:
        pmf = np.asarray(self.pmf, dtype=float)
        if pmf.ndim != 1 or len(pmf) < 2 or not np.isfinite(pmf).all() or (pmf < 0).any():
            raise ValueError(
                "batches: give a list of probabilities, 0 or more, beginning with that of size 0; "
                "or "
                "use Batches.of({size: weight})"
            )
        if pmf[0]:
            raise ValueError(f"batches: the probability of size 0 is {pmf[0]:g}; it must be 0")
        if not math.isclose(pmf.sum(), 1, abs_tol=1e-9):
            raise ValueError(
                f"batches: the sum of the probabilities is {pmf.sum():g}; it must be 1"
            )
        object.__setattr__(self, "pmf", np.trim_zeros(pmf / pmf.sum(), "b"))

    @classmethod
    def of(cls, weights: Mapping[int, float]) -> Self:
        """Return a distribution of batch sizes from a weight for each size in packets.

        Raises
        ------
        ValueError
            If a size is not a positive whole number, or every weight is 0.
        """
        for size, weight in weights.items():
            if size < 1 or size != int(size):
                raise ValueError(
                    f"batches: a size is {size:g}; it must be a whole number of at least 1"
                )
            refuse_outside(f"batches: weight of {size}", weight, 0, open_low=False)
        total = sum(weights.values())
        if not total > 0:
            raise ValueError("batches: every weight is 0; give a weight above 0")
        pmf = np.zeros(max(map(int, weights)) + 1)
        for size, weight in weights.items():
            pmf[int(size)] = weight / total
        return cls(pmf)

    @property
    def mean(self) -> float:
        """Mean batch size E[X], in packets."""
        return float(np.arange(len(self.pmf)) @ self.pmf)

    @property
    def mean_square(self) -> float:
        """Second moment E[X²], in packets²."""
        return float(np.arange(len(self.pmf), dtype=float) ** 2 @ self.pmf)

    @property
    def packets_a_batch_seen(self) -> float:
        """Mean size E[X²]/E[X] of the batch to which a random packet belongs."""
        return self.mean_square / self.mean

    @cached_property
    def above(self) -> Array:
        """P(X > k) at index k, beginning with k = 0."""
        above: Array = np.maximum(self.pmf[::-1].cumsum()[::-1][1:], 0)
        return above

    def transform(self, z: Any) -> Any:
        """Return E[z^X] for a number z or an array of numbers."""
        return np.polynomial.polynomial.polyval(z, self.pmf)


@dataclass(frozen=True)
class BatchQueue(ABC):
    """Queue with batch arrivals in a Poisson process.

    Parameters
    ----------
    load : float
        Load ρ, which is the share of time in which the server is busy; above 0 and below 1.
    batches : Batches
        Distribution of batch sizes.
    service_s : float
        Mean service time of a packet, in s. If `service_s` has the default value 1, the unit of all
        times is the mean service time.
    """

    load: float
    batches: Batches = field(default_factory=lambda: Batches.of({1: 1}))
    service_s: float = 1.0

    VARIATION = 1.0
    """Squared coefficient of variation of the service times."""

    def __post_init__(self) -> None:
        refuse_outside("load", self.load, 0, 1, OVERLOAD)
        refuse_outside("service_s", self.service_s, 0)

    @property
    def rate(self) -> float:
        """Mean number of batches that arrive per service time."""
        return self.load / self.batches.mean

    @property
    def mean_work(self) -> float:
        """Mean unfinished work E[V], in s, which is also the mean wait of a batch."""
        m = self.batches.packets_a_batch_seen
        return self.service_s * self.load * (self.VARIATION + m) / (2 * (1 - self.load))

    @property
    def mean_wait(self) -> float:
        """Mean wait of a packet before service, in s: for earlier work and for its own batch."""
        return self.mean_work + self.service_s * (self.batches.packets_a_batch_seen - 1) / 2

    @property
    def mean_queue(self) -> float:
        """Mean number of waiting packets, without the packet in service (Little's law)."""
        return self.load * self.mean_wait / self.service_s

    @property
    def mean_system(self) -> float:
        """Mean number of packets in the system; equation (1) for exponential service times."""
        return self.mean_queue + self.load

    @abstractmethod
    def transform(self, z: Any) -> Any:
        """Return E[z^N] for the number N of packets in the system."""

    @abstractmethod
    def _pole(self, z: float) -> float:
        """Return the value at z of a function whose zero is the pole of `transform`.

        The function is negative at z = 1.
        """

    @abstractmethod
    def _solve(self, size: int) -> Array:
        """Return P(N = n) for n below `size`, computed by the recursion."""

    @cached_property
    def decay(self) -> float:
        """The pole z₀ of E[z^N]: P(N > n) decays as z₀^(-n)."""
        from scipy.optimize import brentq

        step, low = 1e-9, 1.0
        while self._pole(1 + step) < 0:
            low, step = 1 + step, 2 * step
        return float(brentq(self._pole, low, 1 + step, xtol=1e-15))

    def size(self, left_out: float = LEFT_OUT) -> int:
        """Return the smallest `size` for which the bound of P(N ≥ size) is at most `left_out`.

        Raises
        ------
        ValueError
            If the distribution would be longer than `LONGEST`, because the load is close to 1.
        """
        least = math.inf
        for part in (0.5, 0.8, 0.9, 0.95, 0.98):
            z = 1 + part * (self.decay - 1)
            least = min(least, math.log(abs(self.transform(z)) / left_out) / math.log(z))
        if not least < MOST_STATES:
            raise ValueError(
                f"load is {self.load:g}, which is too close to 1, because the distribution would "
                "have "
                f"{least:.3g} values; reduce the load, or use the mean, which needs no distribution"
            )
        return math.ceil(least) + 1

    @cached_property
    def pmf(self) -> Array:
        """P(N = n) in equilibrium, for the number N of packets waiting or in service."""
        return self._solve(self.size())

    def by_inversion(self, size: int | None = None) -> Array:
        """Return P(N = n) for n below `size`, computed from the generating function only.

        The probabilities are a Fourier sum over a circle with a radius below 1 (Abate & Whitt 1992,
        `abate1992inversion`). The error is at most 10⁻⁸ P(N ≥ 2 size), plus a rounding error of
        about 10⁻¹².
        """
        size = size or self.size()
        points = 2 * size
        radius = 10 ** (-8 / points)
        z = radius * np.exp(-2j * np.pi * np.arange(points) / points)
        coefficients = np.fft.ifft(self.transform(z)).real
        return coefficients[:size] * radius ** -np.arange(size)

    def exceeds(self, packets: float) -> float:
        """Return P(N > packets), the share of time with a larger number in the system."""
        return float(self.pmf[math.floor(packets) + 1 :].sum()) if packets >= 0 else 1.0

    @abstractmethod
    def work_exceeds(self, seconds: float) -> float:
        """Return P(V > seconds), the probability that a batch waits longer than `seconds`."""

    @abstractmethod
    def wait_exceeds(self, seconds: float) -> float:
        """Return the share of packets that wait longer than `seconds` before their service."""


class MxM1(BatchQueue):
    """M[X]/M/1: exponential service times.

    Examples
    --------
    Mean number of packets by equation (1), at load 0.8, if each flow sends bursts of 2, 4 and 1
    packets:

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
        probabilities: Array = lfilter([1.0], taps, start)
        return probabilities

    def work_exceeds(self, seconds: float) -> float:
        """Return P(V > seconds); the service time of n packets has an Erlang distribution."""
        return self._erlang(self.pmf, seconds)

    def wait_exceeds(self, seconds: float) -> float:
        """Return the share of packets that wait longer than `seconds` before their service."""
        return self._erlang(self._ahead, seconds)

    @cached_property
    def _ahead(self) -> Array:
        """Probability that n packets precede an arriving packet, for n = 0, 1, ….

        The preceding packets are already in the system, or are in the batch of the arriving packet.
        """
        from scipy.signal import oaconvolve

        ahead: Array = oaconvolve(self.pmf, self.batches.above / self.batches.mean)
        return np.maximum(ahead, 0)

    def _erlang(self, ahead: Array, seconds: float) -> float:
        from scipy.special import gammaincc

        if seconds < 0:
            return 1.0
        n = np.arange(1, len(ahead))
        return float(ahead[1:] @ gammaincc(n, seconds / self.service_s))


class MxD1(BatchQueue):
    """M[X]/D/1: constant service times, for example packets of equal size on a link.

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
        """Return (ln A(z) - ln z)/(z - 1); the division removes the root at z = 1."""
        above = float(np.polynomial.polynomial.polyval(z, self.batches.above))
        return self.rate * above - math.log1p(z - 1) / (z - 1)

    def arrivals(self, services: float) -> Array:
        """Return the distribution of the number of arrivals in t = `services` service times.

        The generating function of the number of arrivals is e^(-λt(1 - X(z))). The power series in
        X is summed up to weights below 10⁻²⁰. If `services` is between -1 and 0, the generating
        function of the result is the reciprocal of the generating function for -t.
        """
        from scipy.signal import oaconvolve

        rate, x = self.rate * services, self.batches.pmf
        power, weight, series = np.ones(1), math.exp(-rate), np.array([math.exp(-rate)])
        n = 0
        while abs(weight) > 1e-20 or n < abs(rate):
            n += 1
            power, weight = np.maximum(oaconvolve(power, x), 0), weight * rate / n
            series = np.pad(series, (0, len(power) - len(series))) + weight * power
        return series

    def _solve(self, size: int) -> Array:
        from scipy.signal import lfilter

        arrivals = self.arrivals(1)
        above = np.maximum(arrivals[::-1].cumsum()[::-1] - arrivals, 0)
        start = np.zeros(size)
        start[0] = 1 - self.load
        rest = lfilter(
            np.concatenate([[0], above]), np.concatenate([arrivals[:1], -above[1:]]), start
        )
        probabilities: Array = start + rest
        return probabilities

    def work_exceeds(self, seconds: float) -> float:
        """Return P(V > seconds)."""
        if seconds < 0:
            return 1.0
        n, part = divmod(seconds / self.service_s, 1)
        return self._beyond(int(n), self._at_most(part))

    def _at_most(self, part: float) -> Array:
        """Return P(V ≤ n + `part`) for n = 0, 1, …; V is the unfinished work in service times.

        The unfinished work exceeds n service times if and only if more than n packets are in the
        system. The unfinished work exceeds n + `part` service times if and only if more than n of
        the packets in the system are left after `part` service times. All other packets in the
        system after `part` service times have arrived in these `part` service times. The generating
        function of the number of packets is therefore divided by the generating function of the
        number of arrivals in `part` service times.
        """
        from scipy.signal import oaconvolve

        below = self.pmf.cumsum()
        if part < 1e-12:
            return below
        probabilities: Array = oaconvolve(below, self.arrivals(-part))[: len(below)]
        return probabilities

    @staticmethod
    def _beyond(n: int, at_most: Array) -> float:
        return max(0.0, 1 - float(at_most[n])) if n < len(at_most) else 0.0

    def wait_exceeds(self, seconds: float) -> float:
        """Return the share of packets that wait longer than `seconds` before their service."""
        if seconds < 0:
            return 1.0
        ahead = self.batches.above / self.batches.mean
        n, part = divmod(seconds / self.service_s, 1)
        at_most = self._at_most(part)
        left = int(n) - np.arange(len(ahead))
        beyond = np.where(left < len(at_most), 1 - at_most[np.clip(left, 0, len(at_most) - 1)], 0)
        return float(ahead @ np.where(left < 0, 1.0, np.maximum(beyond, 0)))
