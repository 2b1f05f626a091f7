"""Datagrams at an unlimited Drop Tail queue: M/D/1, M/G/1, and M[X] queues for replayed traces."""

from typing import Any

import numpy as np

from aqmlab.models.batch_queue import Batches, BatchQueue, MxD1, MxM1
from aqmlab.models.beside.place import SIZES, Place, packets, size
from aqmlab.models.beside.row import NotHere, Row
from aqmlab.models.single_server import MG1, WithRoom, md1
from aqmlab.scenario import bits_per_second

ENOUGH = 1000
"""Batches of a trace from which on its distribution can be told."""
SAME = 0.1
"""How far from 1 the squared coefficient of variation of exponential gaps or sizes may be."""


def rows(place: Place) -> tuple[list[Row], BatchQueue | None]:
    """Return what is known of the queue of datagrams, and its whole distribution if it is known.

    Raises
    ------
    NotHere
        If none of the models fits, with the reason.
    """
    tables = [table for table, _ in place.crossing]
    kinds = {table["traffic"]["kind"] for table in tables}
    if not kinds or kinds - {"poisson", "replay"}:
        others = ", ".join(sorted(kinds - {"poisson", "replay"})) or "nothing"
        raise NotHere(f"queues of datagrams are known for Poisson arrivals; {others} crosses too")
    if place.queue["kind"] != "drop_tail":
        raise NotHere(f"queues of datagrams are known for drop_tail, not {place.queue['kind']}")
    if place.count("dropped_packets") and kinds != {"poisson"}:
        raise NotHere(f"{place.link} dropped packets; batches are known with room for all")
    return _poisson(place) if kinds == {"poisson"} else _replayed(place, tables)


def _poisson(place: Place) -> tuple[list[Row], BatchQueue | None]:
    sizes, weights, load = [], [], 0.0
    for table, names in place.crossing:
        traffic = table["traffic"]
        if traffic["packets"] or traffic["lasts"] or not table["start"].startswith("0 "):
            raise NotHere(f"{table['name']} does not send from the beginning to the end")
        bytes_, bps = (
            size(traffic["payload"]) + size(traffic["headers"]),
            bits_per_second(traffic["rate"]),
        )
        sizes.append(bytes_)
        weights.append(len(names) * bps / bytes_)
        load += len(names) * bps / place.bps
    if load >= 1:
        raise NotHere(f"the load of {place.link} is {load:.4g}; at 1 and above nothing is at rest")
    mean = float(np.average(sizes, weights=weights))
    variation = float(np.average((np.array(sizes) - mean) ** 2, weights=weights)) / mean**2
    service = 8 * mean / place.bps
    told = f"Poisson arrivals at the queue ({place.host_links()}); load as the flows' rates say"
    if variation < 1e-12:
        queue = md1(load, service)
        if place.count("dropped_packets"):
            return _with_room(place, queue, mean, told), None
        return _of(place, "M/D/1", queue, told), queue
    if place.count("dropped_packets"):
        raise NotHere(
            f"{place.link} dropped packets; sizes that differ are known with room for all"
        )
    mixed = MG1(load, service, variation)
    told += f"; {len(set(sizes))} sizes, so means alone are known"
    return [
        Row("M/G/1", place.link, "load", "%", 100 * load, 100 * place.load, told),
        Row("M/G/1", place.link, "mean wait", "ms", 1e3 * mixed.mean_wait,
            1e3 * place.mean_delay_s, "Pollaczek–Khinchine"),
    ], None  # fmt: skip


def _with_room(place: Place, queue: MxD1, packet: float, told: str) -> list[Row]:
    """Return loss and mean wait of M/D/1/K; K counts the packet in service."""
    text = place.queue["limit"]
    if text.split()[1] not in (*SIZES, "packet", "packets"):
        raise NotHere(f"a limit of {text} is a time; give it in packets")
    room = int(packets(text, packet)) + (place.queue["limit_counts"] == "waiting")
    of = WithRoom(queue, room)
    name, lost = "M/D/1/K", place.count("dropped_packets") / place.count("arrived_packets")
    return [
        Row(name, place.link, "loss", "%", 100 * of.loss, 100 * lost, f"{told}; K = {room}"),
        Row(name, place.link, "mean wait", "ms", 1e3 * of.mean_wait, 1e3 * place.mean_delay_s),
    ]


def _replayed(place: Place, tables: list[dict[str, Any]]) -> tuple[list[Row], BatchQueue | None]:
    if len(place.crossing) != 1 or len(place.crossing[0][1]) != 1:
        raise NotHere("a replayed trace is told apart where it crosses the link alone")
    traffic = tables[0]["traffic"]
    trace = np.array(traffic["trace"], dtype=float).reshape(-1, 2)
    times, sizes = trace[:, 0], trace[:, 1] + size(traffic["headers"])
    begins, counts = np.unique(times, return_counts=True)
    if len(begins) < ENOUGH:
        raise NotHere(f"the trace has {len(begins)} batches; from {ENOUGH} on they are told apart")
    gaps = np.diff(begins)
    spread = float(gaps.var() / gaps.mean() ** 2)
    if abs(spread - 1) > SAME:
        raise NotHere(f"gaps of the trace have a squared variation of {spread:.2f}, Poisson's is 1")
    variation = float(sizes.var() / sizes.mean() ** 2)
    service = 8 * float(sizes.mean()) / place.bps
    load = float(8 * sizes.sum() / place.bps / (times[-1] - times[0]))
    if load >= 1:
        raise NotHere(f"the load of {place.link} is {load:.4g}; at 1 and above nothing is at rest")
    batches = Batches.of(counts_of(counts))
    told = (
        f"the trace's batches and load; gaps with a squared variation of {spread:.2f} are Poisson's"
    )
    queue: BatchQueue
    if variation < 1e-3:
        name, queue = "M[X]/D/1", MxD1(load, batches, service)
    elif abs(variation - 1) <= SAME:
        name, queue = "M[X]/M/1", MxM1(load, batches, service)
        told += f", sizes with {variation:.2f} exponential"
    elif len(batches.pmf) == 2:
        mixed = MG1(load, service, variation)
        return [Row("M/G/1", place.link, "mean wait", "ms", 1e3 * mixed.mean_wait,
                    1e3 * place.mean_delay_s, told)], None  # fmt: skip
    else:
        raise NotHere(
            f"sizes in the trace have a squared variation of {variation:.2f}; batches are known "
            "for constant ones (0) and exponential ones (1)"
        )
    return _of(place, name, queue, told), queue


def counts_of(counts: Any) -> dict[int, float]:
    """Return how often each size of batches comes.

    Examples
    --------
    >>> counts_of([1, 3, 1])
    {1: 2, 3: 1}
    """
    sizes, often = np.unique(counts, return_counts=True)
    return dict(zip(sizes.tolist(), often.tolist(), strict=True))


def _of(place: Place, name: str, queue: BatchQueue, told: str) -> list[Row]:
    """Return load, mean wait, and the shares that wait longer than one and three times that."""
    link, mean = place.link, place.mean_delay_s
    found = [
        Row(name, link, "load", "%", 100 * queue.load, 100 * place.load, told),
        Row(name, link, "mean wait", "ms", 1e3 * queue.mean_wait, 1e3 * mean),
        Row(name, link, "mean number waiting", "packets", queue.mean_queue,
            place.count("departed_packets") / place.seen.seconds * mean,
            "measured: rate times mean wait (Little)"),
    ]  # fmt: skip
    for times in (1, 3):
        long = times * queue.mean_wait
        try:
            measured = place.waits_over(long)
        except NotHere:
            return found
        found.append(Row(name, link, f"packets that wait over {1e3 * long:.3g} ms", "%",
                         100 * queue.wait_exceeds(long), 100 * measured))  # fmt: skip
    return found
