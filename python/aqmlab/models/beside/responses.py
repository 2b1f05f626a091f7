"""Responses of servers at an unlimited Drop Tail queue: M[X] queues of the bursts that TCP sends.

The model of `kuzmanovic2005ecnplus`, section 5.2.2, with the responses of the run, the initial
window and the growth of its TCP, and the load as measured. It takes every response for a
connection of its own and bursts for independent; where round trips are short beside the queue
TCP sends as its ACKs come back, and the bursts are spread out.
"""

import numpy as np

from aqmlab.models.batch_queue import BatchQueue, MxD1, MxM1
from aqmlab.models.beside.place import Place, size
from aqmlab.models.beside.row import NotHere, Row
from aqmlab.models.beside.transfers import tcp_of
from aqmlab.models.bursts import Ramp, of_responses
from aqmlab.models.power_of_ecn import TARGET_S

ASKING = ("request_response", "web", "requests")
"""Kinds of traffic whose servers answer."""
FEW = 100
"""Responses from which on their sizes are worth something."""


def rows(place: Place) -> tuple[list[Row], BatchQueue]:
    """Return mean wait and long waits of both queues, and the one with constant service.

    Raises
    ------
    NotHere
        If the model does not fit, with the reason.
    """
    tables = place.answering
    if not tables:
        raise NotHere(f"bursts are known for responses; none come over {place.link}")
    if place.any_there:
        raise NotHere(f"bursts are known for responses alone on {place.link}; others cross too")
    if place.queue["kind"] != "drop_tail" or place.count("dropped_packets"):
        raise NotHere("bursts are known for drop_tail with room for all packets")
    requests = place.recorded("requests")
    here = np.isin(np.array(requests["flow"]), [name for _, names in tables for name in names])
    sizes = np.asarray(requests["response_bytes"], dtype=float)[here]
    sizes = sizes[sizes > 0]
    if len(sizes) < FEW:
        raise NotHere(f"{len(sizes)} responses came; from {FEW} on their sizes are told")
    tcp = tcp_of(place, tables[0][0])
    sender, mss = tcp["sender"], int(size(tcp["sender"]["mss"]))
    growth = 1 + 1 / float(tcp["receiver"]["delayed_ack"].split()[0])
    initial = float(sender["initial_window"].split()[0])
    window = max(size(tcp["receiver"]["receive_window"]), mss)
    batches = of_responses(sizes, mss, ramp=Ramp(initial, growth=growth), windows={window: 1})
    load = place.load
    service = 8 * (mss + size(sender["wire"]["data_header"])) / place.bps
    told = (
        f"load {100 * load:.3g} % as measured; {len(sizes)} responses, first burst {initial:g}, "
        f"growth {growth:g}; a packet is in a burst of {batches.packets_a_batch_seen:.3g}"
    )
    found: list[Row] = []
    exponential: BatchQueue = MxM1(load, batches, service)
    constant = MxD1(load, batches, service)
    for name, queue in (("M[X]/M/1", exponential), ("M[X]/D/1", constant)):
        found.append(Row(name, place.link, "mean wait", "ms", 1e3 * queue.mean_wait,
                         1e3 * place.mean_delay_s, told))  # fmt: skip
        found.append(Row(name, place.link, f"packets that wait over {1e3 * TARGET_S:g} ms", "%",
                         100 * queue.wait_exceeds(TARGET_S), _late(place)))  # fmt: skip
    return found, constant


def _late(place: Place) -> float:
    """Return how many packets waited longer than the target, in %; NaN if it is not known."""
    try:
        return 100 * place.waits_over(TARGET_S)
    except NotHere:
        return float("nan")
