"""Responses of servers at an unlimited Drop Tail queue: M[X] queues of TCP's bursts.

The model is that of `kuzmanovic2005ecnplus`, section 5.2.2, with the run's responses, the initial
window and window growth of its TCP, and the measured load. The model treats each response as a
connection of its own and the bursts as independent. If round trips are short compared with the
queueing delay, TCP sends at the rate of its ACKs, so the packets of a burst are spread over time.
"""

import numpy as np

from aqmlab.models.batch_queue import BatchQueue, MxD1, MxM1
from aqmlab.models.bursts import Ramp, of_responses
from aqmlab.models.comparison.place import Place, size
from aqmlab.models.comparison.row import NotApplicable, Row
from aqmlab.models.comparison.transfers import tcp_of
from aqmlab.models.power_of_ecn import TARGET_S

ASKING = ("request_response", "web", "requests")
"""Kinds of traffic with responses."""
FEW = 100
"""Minimum number of responses for a distribution of their sizes."""


def rows(place: Place) -> tuple[list[Row], BatchQueue]:
    """Return mean and long waits of both queues, and the queue with constant service times.

    Raises
    ------
    NotApplicable
        If the model does not apply, with the reason.
    """
    tables = place.answering
    if not tables:
        raise NotApplicable(f"the model of bursts needs responses; none cross {place.link}")
    if place.any_forward:
        raise NotApplicable(
            f"the model of bursts needs responses alone; other data crosses {place.link}"
        )
    if place.queue["kind"] != "drop_tail" or place.count("dropped_packets"):
        raise NotApplicable("bursts are known for drop_tail with room for all packets")
    requests = place.recorded("requests")
    here = np.isin(np.array(requests["flow"]), [name for _, names in tables for name in names])
    sizes = np.asarray(requests["response_bytes"], dtype=float)[here]
    sizes = sizes[sizes > 0]
    if len(sizes) < FEW:
        raise NotApplicable(f"the run has {len(sizes)} responses; their sizes need at least {FEW}")
    tcp = tcp_of(place, tables[0][0])
    sender, mss = tcp["sender"], int(size(tcp["sender"]["mss"]))
    growth = 1 + 1 / float(tcp["receiver"]["delayed_ack"].split()[0])
    initial = float(sender["initial_window"].split()[0])
    window = max(size(tcp["receiver"]["receive_window"]), mss)
    batches = of_responses(sizes, mss, ramp=Ramp(initial, growth=growth), windows={window: 1})
    load = place.load
    service = 8 * (mss + size(sender["wire"]["data_header"])) / place.bps
    assumed = (
        f"load {100 * load:.3g} % as measured; {len(sizes)} responses, first burst {initial:g}, "
        f"growth {growth:g}; mean burst of a packet {batches.packets_a_batch_seen:.3g}"
    )
    compared: list[Row] = []
    exponential: BatchQueue = MxM1(load, batches, service)
    constant = MxD1(load, batches, service)
    for name, queue in (("M[X]/M/1", exponential), ("M[X]/D/1", constant)):
        compared.append(Row(name, place.link, "mean wait", "ms", 1e3 * queue.mean_wait,
                            1e3 * place.mean_delay_s, assumed))  # fmt: skip
        compared.append(Row(name, place.link, f"packets that wait over {1e3 * TARGET_S:g} ms", "%",
                            100 * queue.wait_exceeds(TARGET_S), _late(place)))  # fmt: skip
    return compared, constant


def _late(place: Place) -> float:
    """Return the share of packets that waited longer than the target, in %; NaN if unknown."""
    try:
        return 100 * place.waits_over(TARGET_S)
    except NotApplicable:
        return float("nan")
