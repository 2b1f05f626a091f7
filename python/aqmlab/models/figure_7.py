"""Which reading of "The power of explicit congestion notification" gives the number in its text.

`kuzmanovic2005ecnplus`, section 5.2.2, reads its figure 7 at a flow of 7.22 packets and load
0.8 as "a moderate (5 packets) average queue length"; its equation (1) gives 8.0 for the bursts
that it states. The figure itself is a picture of which no number is left, so nothing decides
between readings; this enumerates them. Each departs from the text in some points:

- *the quantity*: what waits, without the packet in service, for E(Q) of equation (1), which is in
  the system; or the work that an arriving burst finds, in services;
- *the service*: constant, as in its simulations, for exponential;
- *the first burst*: 1 packet for 2; *the growth*: 1.5 a round trip (delayed ACKs) for 2;
- *the remainder*: s mod (2ⁿ - 1) as printed, for what is left;
- *the second moment*: E(X)² for E(X²), if that was computed;
- *the size*: 7 packets for 7.22, taken as flows of 7 and of 8; or 7.2 kB in packets of 1460 B.

:func:`readings` has all that do not contradict themselves, 150. What they say
(tests/test_models_bursts.py holds it): no single departure gives 5, the nearest is constant service
with 6.4. Of two, constant service with slow start at 1.5 a round trip has 5.4 in the system, and
with E(X)² for E(X²) 5.2; of three, the former with the work before a burst has 5.01.

What TCP does here (tests/test_models_simulated.py): flows of 7 packets at load 0.8 have 5.3 in
the system with delayed ACKs and 6.3 without, as M[X]/D/1 has with bursts 2, 3, 2 and 2, 4, 1.
So the text is what a simulation with delayed ACKs shows, and not what its equation gives.
Whether its simulations delayed ACKs is not printed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from aqmlab.models.batch_queue import Batches, BatchQueue, MxD1, MxM1
from aqmlab.models.bursts import Ramp

LOAD, PRINTED = 0.8, 5
"""Of figure 7, and what the text reads there, in packets."""
WINDOW = 64
"""Advertised window in packets; a flow so short does not reach it."""
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
    """One way to read the model at figure 7's point.

    `packets` is what it gives. `departures` are the points in which it departs from the text.
    """

    departures: tuple[str, ...]
    packets: float

    @property
    def meets(self) -> bool:
        """Whether it rounds to the packets that the text has."""
        return round(self.packets) == PRINTED


def readings() -> list[Reading]:
    """Return every reading: the fewest departures first, then the nearest to the text.

    Examples
    --------
    >>> first = readings()[0]
    >>> first.departures, round(first.packets, 2), first.meets
    ((), 8.0, False)
    """
    found = list(_every())
    return sorted(found, key=lambda r: (len(r.departures), abs(r.packets - PRINTED)))


def _every() -> Iterator[Reading]:
    choices = product(SIZES, (2, 1), (2.0, 1.5), REMAINDERS, MOMENTS, SERVICES, QUANTITIES)
    for size, first, growth, remainder, moment, service, quantity in choices:
        printed = remainder == "as printed"
        if printed and (first, growth) != (2, 2.0):
            continue  # it is printed for bursts 2, 4, 8, … alone
        if quantity == "work before a burst" and service == "exponential":
            continue  # the same as in the system: Poisson arrivals see time averages
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
    """Return by how much a quantity grows with E(X²)/E(X), in which all are linear."""
    work = queue.load / (2 * (1 - queue.load))
    return work if quantity == "work before a burst" else queue.load * (work + 0.5)


def load_of(packets: float, batches: Batches) -> float:
    """Return the load at which equation (1) gives a mean number, in packets.

    Examples
    --------
    >>> round(load_of(5, Batches.of({1: 1, 2: 1, 4: 1})), 3)
    0.714
    """
    part = packets / ((1 + batches.packets_a_batch_seen) / 2)
    return part / (1 + part)
