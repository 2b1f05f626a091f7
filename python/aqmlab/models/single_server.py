"""Models of queues in which packets arrive one at a time in a Poisson process.

The models are M/G/1 (Pollaczek and Khinchine), its special cases M/M/1 and M/D/1, the models
M/M/1/K and M/G/1/K with loss, and Erlang's loss formula (`kleinrock1975queueing`, chapters 3 and
5). Times are in s and numbers in packets; ρ is the load. The distributions of M/M/1 and M/D/1 are
computed by :mod:`aqmlab.models.batch_queue`, with batches of one packet.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from aqmlab.models.batch_queue import OVERLOAD, MxD1, MxM1
from aqmlab.models.bounds import refuse_outside


@dataclass(frozen=True)
class MG1:
    """M/G/1, given the first two moments of the service time.

    Source: Pollaczek–Khinchine; `kleinrock1975queueing`, chapter 5.

    Parameters
    ----------
    load : float
        Load ρ, above 0 and below 1.
    service_s : float
        Mean service time, in s.
    variation : float
        Squared coefficient of variation of the service times: 0 if constant, 1 if exponential.

    Examples
    --------
    >>> queue = MG1(0.8, service_s=0.001, variation=0)
    >>> round(queue.mean_wait, 6), round(queue.mean_queue, 6), round(queue.mean_system, 6)
    (0.002, 1.6, 2.4)
    """

    load: float
    service_s: float = 1.0
    variation: float = 1.0

    def __post_init__(self) -> None:
        refuse_outside("load", self.load, 0, 1, OVERLOAD)
        refuse_outside("service_s", self.service_s, 0)
        refuse_outside("variation", self.variation, 0, open_low=False)

    @classmethod
    def of_sizes(cls, load: float, sizes: ArrayLike, bytes_per_s: float) -> "MG1":
        """Return the queue model in which all packet sizes in `sizes` (bytes) are equally likely.

        Examples
        --------
        >>> MG1.of_sizes(0.5, [500, 1500], 1e6).service_s
        0.001
        """
        values = np.asarray(sizes, dtype=float)
        if values.size == 0:
            raise ValueError("sizes: the list is empty; give at least one size")
        refuse_outside("bytes_per_s", bytes_per_s, 0)
        refuse_outside("sizes: the minimum", float(values.min()), 0)
        mean = float(values.mean())
        return cls(load, mean / bytes_per_s, float(values.var()) / mean**2)

    @property
    def mean_wait(self) -> float:
        """Mean waiting time of a packet before service, in s."""
        return self.load * self.service_s * (1 + self.variation) / (2 * (1 - self.load))

    @property
    def mean_queue(self) -> float:
        """Mean number of waiting packets."""
        return self.load * self.mean_wait / self.service_s

    @property
    def mean_system(self) -> float:
        """Mean number of packets waiting or in service."""
        return self.mean_queue + self.load


def mm1(load: float, service_s: float = 1.0) -> MxM1:
    """Return M/M/1, the queue with exponential service times.

    Examples
    --------
    >>> round(mm1(0.8).mean_system, 9), round(mm1(0.8).exceeds(9), 6)  # ρ/(1-ρ), ρ^10
    (4.0, 0.107374)
    """
    return MxM1(load, service_s=service_s)


def md1(load: float, service_s: float = 1.0) -> MxD1:
    """Return M/D/1, the queue with constant service times.

    Examples
    --------
    >>> round(md1(0.8).mean_queue, 9), round(md1(0.8).work_exceeds(2.5), 4)
    (1.6, 0.2951)
    """
    return MxD1(load, service_s=service_s)


@dataclass(frozen=True)
class MM1K:
    """M/M/1/K: M/M/1 with at most K packets, including the packet in service (§3.6).

    Parameters
    ----------
    load : float
        Offered load, above 0. The offered load can be above 1.
    limit : int
        Limit K in packets, 1 or more.
    service_s : float
        Mean service time, in s.

    Examples
    --------
    >>> queue = MM1K(0.8, 10)
    >>> round(queue.loss, 5), round(queue.mean_system, 4), round(queue.throughput, 5)
    (0.02349, 2.9663, 0.78121)
    """

    load: float
    limit: int
    service_s: float = 1.0

    def __post_init__(self) -> None:
        refuse_outside("load", self.load, 0)
        refuse_outside(
            "limit", self.limit, 1, open_low=False, remedy="K includes the packet in service"
        )
        refuse_outside("service_s", self.service_s, 0)

    @property
    def pmf(self) -> "np.ndarray":
        """P(n packets in the system), for n from 0 to K."""
        logs = np.arange(self.limit + 1) * np.log(self.load)
        weights = np.exp(logs - logs.max())
        probabilities: np.ndarray = weights / weights.sum()
        return probabilities

    @property
    def loss(self) -> float:
        """Share of packets that arrive at a full queue and are lost."""
        return float(self.pmf[-1])

    @property
    def mean_system(self) -> float:
        """Mean number of packets waiting or in service."""
        return float(np.arange(self.limit + 1) @ self.pmf)

    @property
    def throughput(self) -> float:
        """Number of packets served per mean service time."""
        return self.load * (1 - self.loss)

    @property
    def mean_wait(self) -> float:
        """Mean waiting time of accepted packets before service, in s (Little's law)."""
        return self.service_s * (self.mean_system / self.throughput - 1)


@dataclass(frozen=True)
class MG1K:
    """M/G/1/K: M/G/1 with at most K packets, including the packet in service.

    The number of packets in the system just after a departure has the distribution of the queue
    without a limit, truncated at K and normalized. The time averages are computed from the
    distribution of the number of packets after a departure (`kleinrock1975queueing`, chapter 5).

    Parameters
    ----------
    queue : MxM1 or MxD1
        Model of the queue without a limit, with batches of one packet.
    limit : int
        K, in packets; 1 or more.

    Examples
    --------
    >>> round(MG1K(md1(0.8), 10).loss, 6), round(MG1K(mm1(0.8), 10).loss, 5)
    (0.003639, 0.02349)
    """

    queue: MxM1 | MxD1
    limit: int

    def __post_init__(self) -> None:
        refuse_outside(
            "limit", self.limit, 1, open_low=False, remedy="K includes the packet in service"
        )
        refuse_outside("queue: the largest batch", len(self.queue.batches.pmf) - 1, 0, 2,
                       "M/G/1/K needs batches of one packet")  # fmt: skip

    @property
    def pmf(self) -> "np.ndarray":
        """P(n packets in the system), for n from 0 to K."""
        left = np.zeros(self.limit)
        known = self.queue.pmf[: self.limit]
        left[: len(known)] = known
        left /= left.sum()
        probabilities: np.ndarray = np.append(left, 0) / (left[0] + self.queue.load)
        probabilities[-1] = max(0.0, 1 - probabilities.sum())
        return probabilities

    @property
    def loss(self) -> float:
        """Share of packets that arrive at a full queue and are lost."""
        return float(self.pmf[-1])

    @property
    def mean_wait(self) -> float:
        """Mean waiting time of accepted packets before service, in s (Little's law)."""
        number = float(np.arange(self.limit + 1) @ self.pmf)
        return self.queue.service_s * (number / (self.queue.load * (1 - self.loss)) - 1)


def erlang_b(erlangs: float, servers: int) -> float:
    """Return the share of calls that are lost because all servers are busy, M/M/c/c (§3.7).

    Examples
    --------
    >>> round(erlang_b(10, 15), 4)
    0.0365
    """
    refuse_outside("erlangs", erlangs, 0)
    refuse_outside("servers", servers, 1, open_low=False)
    lost = 1.0
    for n in range(1, servers + 1):
        lost = erlangs * lost / (n + erlangs * lost)
    return lost
