"""Search for the variant of a queue model that yields the number in the text of the study.

The study is "The power of explicit congestion notification". `kuzmanovic2005ecnplus`, section
5.2.2, states for figure 7, at a flow size of 7.22 packets and load 0.8, "a moderate (5 packets)
average queue length". Equation (1) of the study gives 8.0 packets for the bursts that the study
describes. The numbers behind the figure are not available. This module therefore enumerates
variants of the queue model, called readings. Each variant differs from the text of the study in one
or more points:

- *the quantity*: the number of waiting packets without the packet in service, or the unfinished
  work in service times when a burst arrives, instead of E(Q) of equation (1);
- *the service*: constant service times, as in the simulations of the study, instead of exponential
  service times;
- *the first burst*: 1 packet instead of 2 packets; *the growth*: a factor of 1.5 per round trip
  (delayed ACKs) instead of 2;
- *the remainder*: s mod (2ⁿ - 1), as the study states, instead of the rest of the flow;
- *the second moment*: E(X)² instead of E(X²), which would be a mistake in a computation;
- *the size*: flows of 7 packets, or flows of 7.2 kB in packets of 1460 B, instead of a mix of flows
  of 7 and of 8 packets with a mean of 7.22 packets.

:func:`readings` returns the 150 consistent combinations. tests/test_models_bursts.py checks these
findings: No reading with a single departure gives 5 packets; the nearest is constant service with
6.4 packets. The variant with only constant service times and a growth of 1.5 per round trip gives
5.4 packets in the system. The variant with only constant service times and E(X)² instead of E(X²)
gives 5.2 packets. One variant with three departures gives 5.01 service times: the unfinished work
as the quantity, constant service times, and a growth of 1.5 per round trip.

In simulations of TCP with flows of 7 packets at load 0.8 (tests/test_models_simulated.py), there
are 5.3 packets in the system with delayed ACKs, and 6.3 packets without. The model M[X]/D/1 gives
the same two values for bursts of 2, 3, 2 packets and of 2, 4, 1 packets. The number in the text
therefore agrees with a simulation with delayed ACKs, but not with the equation. The study does not
state if its simulations used delayed ACKs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from aqmlab.models.batch_queue import Batches, BatchQueue, MxD1, MxM1
from aqmlab.models.bursts import Ramp

LOAD, PRINTED = 0.8, 5
"""Load, and mean queue in packets, that the text of the study states for a point of figure 7."""
WINDOW = 64
"""Advertised window in packets, which flows of these sizes do not reach."""
SIZES = {
    "7.22 packets": {7: 0.78, 8: 0.22},
    "7 packets": {7: 1.0},
    "7.2 kB of 1460 B": {5: 1.0},
}
QUANTITIES = {
    "in the system": "mean_system",
    "waiting": "mean_queue",
    "work before a burst": "mean_work",
}
SERVICES: dict[str, type[BatchQueue]] = {"exponential": MxM1, "constant": MxD1}
REMAINDERS = ("what is left", "as printed")
MOMENTS = ("E(X²)", "E(X)²")


@dataclass(frozen=True)
class Reading:
    """Variant of the queue model, at the point of figure 7 that the text describes.

    `packets` is the mean queue that this variant of the model gives. `departures` are the points in
    which the variant departs from the text.
    """

    departures: tuple[str, ...]
    packets: float

    @property
    def meets(self) -> bool:
        """True if the mean queue of the model variant rounds to the number in the study's text."""
        return round(self.packets) == PRINTED


def readings() -> list[Reading]:
    """Return all variants of the queue model, sorted by the number of departures from the text.

    Variants with equally many departures are in the order of the difference between their mean
    queue and 5 packets.

    Examples
    --------
    >>> first = readings()[0]
    >>> first.departures, round(first.packets, 2), first.meets
    ((), 8.0, False)
    """
    return sorted(_every(), key=lambda r: (len(r.departures), abs(r.packets - PRINTED)))


def _every() -> Iterator[Reading]:
    choices = product(SIZES, (2, 1), (2.0, 1.5), REMAINDERS, MOMENTS, SERVICES, QUANTITIES)
    for size, first, growth, remainder, moment, service, quantity in choices:
        printed = remainder == "as printed"
        if printed and (first, growth) != (2, 2.0):
            continue  # the study prints it only for bursts of 2, 4, 8, …
        if quantity == "work before a burst" and service == "exponential":
            continue  # equals the number in the system: Poisson arrivals see time averages
        batches = _batches(size, Ramp(first, growth=growth), as_printed=printed)
        departures = (
            [f"size {size}"] * (size != "7.22 packets")
            + [f"first burst {first}"] * (first != 2)
            + [f"growth {growth:g}"] * (growth != 2)
            + [f"remainder {remainder}"] * printed
            + [f"{moment} for E(X²)"] * (moment != MOMENTS[0])
            + [f"{service} service"] * (service != "exponential")
            + [quantity] * (quantity != "in the system")
        )
        of = SERVICES[service](LOAD, batches)
        value = float(getattr(of, QUANTITIES[quantity]))
        if moment != MOMENTS[0]:
            value -= _in_moment(of, quantity) * (batches.packets_a_batch_seen - batches.mean)
        yield Reading(tuple(departures), value)


def _batches(size: str, ramp: Ramp, *, as_printed: bool) -> Batches:
    counts: dict[int, float] = {}
    for packets, weight in SIZES[size].items():
        bursts = ramp.bursts(packets, WINDOW)
        if as_printed:
            bursts[-1] = packets % (2 ** len(bursts) - 1)
        for burst in filter(None, bursts):
            counts[burst] = counts.get(burst, 0) + weight
    return Batches.of(counts)


def _in_moment(queue: BatchQueue, quantity: str) -> float:
    """Return the slope of a quantity, which is a linear function of E(X²)/E(X)."""
    work = queue.load / (2 * (1 - queue.load))
    return work if quantity == "work before a burst" else queue.load * (work + 0.5)


def load_of(packets: float, batches: Batches) -> float:
    """Return the load at which equation (1) gives a mean number of packets.

    Examples
    --------
    >>> round(load_of(5, Batches.of({1: 1, 2: 1, 4: 1})), 3)
    0.714
    """
    part = packets / ((1 + batches.packets_a_batch_seen) / 2)
    return part / (1 + part)
