"""Models of datagrams at a Drop Tail queue: M/D/1, M/G/1, and M[X] models of replayed traces."""

from typing import Any

import numpy as np

from aqmlab.models.batch_queue import Batches, BatchQueue, MxD1, MxM1
from aqmlab.models.comparison.place import SIZES, Place, packets, size
from aqmlab.models.comparison.row import NotApplicable, Row
from aqmlab.models.single_server import MG1, MG1K, md1
from aqmlab.scenario import bits_per_second

ENOUGH = 1000
"""Minimum number of batches in a trace to estimate the distribution of batch sizes."""
SAME = 0.1
"""Maximum difference of a squared coefficient of variation from 1, its value for exponential
distributions."""


def rows(place: Place) -> tuple[list[Row], BatchQueue | None]:
    """Return the compared quantities, and the queue model if the model has a known distribution.

    Raises
    ------
    NotApplicable
        If no model applies, with the reason.
    """
    tables = [table for table, _ in place.crossing]
    kinds = {table["traffic"]["kind"] for table in tables}
    if not kinds or kinds - {"poisson", "replay"}:
        others = ", ".join(sorted(kinds - {"poisson", "replay"})) or "nothing"
        raise NotApplicable(
            f"the models of datagrams need Poisson arrivals, but {others} crosses the link"
        )
    if place.queue["kind"] != "drop_tail":
        raise NotApplicable(
            f"the models of datagrams need a queue of kind drop_tail, not {place.queue['kind']}"
        )
    if place.count("dropped_packets") and kinds != {"poisson"}:
        raise NotApplicable(
            f"{place.link} dropped packets, and the models of batches assume that no packet is "
            "dropped"
        )
    return _poisson(place) if kinds == {"poisson"} else _replayed(place, tables)


def _poisson(place: Place) -> tuple[list[Row], BatchQueue | None]:
    sizes, weights, load = [], [], 0.0
    for table, names in place.crossing:
        traffic = table["traffic"]
        if traffic["packets"] or traffic["lasts"] or not table["start"].startswith("0 "):
            raise NotApplicable(f"{table['name']} does not send during the whole run")
        bytes_, bps = (
            size(traffic["payload"]) + size(traffic["headers"]),
            bits_per_second(traffic["rate"]),
        )
        sizes.append(bytes_)
        weights.append(len(names) * bps / bytes_)
        load += len(names) * bps / place.bps
    if load >= 1:
        raise NotApplicable(
            f"the load of {place.link} is {load:.4g}, and the models need a load below 1"
        )
    mean = float(np.average(sizes, weights=weights))
    variation = float(np.average((np.array(sizes) - mean) ** 2, weights=weights)) / mean**2
    service = 8 * mean / place.bps
    assumed = (
        f"Poisson arrivals at the queue ({place.host_links()}); the load follows from the rates of "
        "the flows"
    )
    if variation < 1e-12:
        queue = md1(load, service)
        if place.count("dropped_packets"):
            return _with_limit(place, queue, mean, assumed), None
        return _of(place, "M/D/1", queue, assumed), queue
    if place.count("dropped_packets"):
        raise NotApplicable(
            f"{place.link} dropped packets, and the model of different packet sizes assumes that "
            "no packet is dropped"
        )
    mixed = MG1(load, service, variation)
    assumed += f"; {len(set(sizes))} packet sizes, for which only mean values are known"
    return [
        Row("M/G/1", place.link, "load", "%", 100 * load, 100 * place.load, assumed),
        Row("M/G/1", place.link, "mean wait", "ms", 1e3 * mixed.mean_wait,
            1e3 * place.mean_delay_s, "Pollaczek–Khinchine"),
    ], None  # fmt: skip


def _with_limit(place: Place, queue: MxD1, packet: float, assumed: str) -> list[Row]:
    """Return the loss and the mean wait of M/D/1/K, where K includes the packet in service."""
    text = place.queue["limit"]
    if text.split()[1] not in (*SIZES, "packet", "packets"):
        raise NotApplicable(
            f"the limit {text} of the queue is a time, and the model needs a limit in packets"
        )
    limit = int(packets(text, packet)) + (place.queue["limit_counts"] == "waiting")
    of = MG1K(queue, limit)
    name, lost = "M/D/1/K", place.count("dropped_packets") / place.count("arrived_packets")
    return [
        Row(name, place.link, "loss", "%", 100 * of.loss, 100 * lost, f"{assumed}; K = {limit}"),
        Row(name, place.link, "mean wait", "ms", 1e3 * of.mean_wait, 1e3 * place.mean_delay_s),
    ]


def _replayed(place: Place, tables: list[dict[str, Any]]) -> tuple[list[Row], BatchQueue | None]:
    if len(place.crossing) != 1 or len(place.crossing[0][1]) != 1:
        raise NotApplicable("the model of a replayed trace needs a link without other traffic")
    traffic = tables[0]["traffic"]
    trace = np.array(traffic["trace"], dtype=float).reshape(-1, 2)
    times, sizes = trace[:, 0], trace[:, 1] + size(traffic["headers"])
    begins, counts = np.unique(times, return_counts=True)
    if len(begins) < ENOUGH:
        raise NotApplicable(
            f"the trace has {len(begins)} batches, and the model needs at least {ENOUGH}"
        )
    gaps = np.diff(begins)
    spread = float(gaps.var() / gaps.mean() ** 2)
    if abs(spread - 1) > SAME:
        raise NotApplicable(
            f"the gaps of the trace have the squared coefficient of variation {spread:.2f}, but "
            "Poisson arrivals have the value 1"
        )
    variation = float(sizes.var() / sizes.mean() ** 2)
    service = 8 * float(sizes.mean()) / place.bps
    load = float(8 * sizes.sum() / place.bps / (times[-1] - times[0]))
    if load >= 1:
        raise NotApplicable(
            f"the load of {place.link} is {load:.4g}, and the models need a load below 1"
        )
    batches = Batches.of(counts_of(counts))
    assumed = (
        "batches and load of the trace; Poisson arrivals of the batches (squared coefficient of "
        "variation of the gaps: "
        f"{spread:.2f})"
    )
    queue: BatchQueue
    if variation < 1e-3:
        name, queue = "M[X]/D/1", MxD1(load, batches, service)
    elif abs(variation - 1) <= SAME:
        name, queue = "M[X]/M/1", MxM1(load, batches, service)
        assumed += f", exponential packet sizes (squared coefficient of variation {variation:.2f})"
    elif len(batches.pmf) == 2:
        mixed = MG1(load, service, variation)
        return [Row("M/G/1", place.link, "mean wait", "ms", 1e3 * mixed.mean_wait,
                    1e3 * place.mean_delay_s, assumed)], None  # fmt: skip
    else:
        raise NotApplicable(
            "the packet sizes in the trace have the squared coefficient of variation "
            f"{variation:.2f}, and the models of batches need about 0 (constant sizes) or 1 "
            "(exponential sizes)"
        )
    return _of(place, name, queue, assumed), queue


def counts_of(counts: Any) -> dict[int, float]:
    """Return how often each batch size occurs.

    Examples
    --------
    >>> counts_of([1, 3, 1])
    {1: 2, 3: 1}
    """
    sizes, often = np.unique(counts, return_counts=True)
    return dict(zip(sizes.tolist(), often.tolist(), strict=True))


def _of(place: Place, name: str, queue: BatchQueue, assumed: str) -> list[Row]:
    """Return the load, the mean wait, and the shares of packets with long waits."""
    link, mean = place.link, place.mean_delay_s
    compared = [
        Row(name, link, "load", "%", 100 * queue.load, 100 * place.load, assumed),
        Row(name, link, "mean wait", "ms", 1e3 * queue.mean_wait, 1e3 * mean),
        Row(name, link, "mean number waiting", "packets", queue.mean_queue,
            place.count("departed_packets") / place.seen.seconds * mean,
            "the measured value is the rate times the mean wait (Little)"),
    ]  # fmt: skip
    for times in (1, 3):
        long = times * queue.mean_wait
        try:
            measured = place.waits_over(long)
        except NotApplicable:
            return compared
        compared.append(Row(name, link, f"packets that wait over {1e3 * long:.3g} ms", "%",
                            100 * queue.wait_exceeds(long), 100 * measured))  # fmt: skip
    return compared
