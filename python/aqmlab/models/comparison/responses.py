"""Model of server responses at a Drop Tail queue: M[X] queues with the bursts of TCP.

The model is that of `kuzmanovic2005ecnplus`, section 5.2.2. The parameters of the model are the
sizes of the responses in the run, the initial window and the window growth of TCP in the scenario,
and the measured load. The model assumes that each response has a separate connection, and that the
bursts are independent. If the round-trip time is short compared with the queueing delay, the
assumption of bursts is wrong: the ACKs spread the packets of a burst over time.
"""

import numpy as np

from aqmlab.models.batch_queue import BatchQueue, MxD1, MxM1
from aqmlab.models.bursts import Ramp, of_responses
from aqmlab.models.comparison.place import Place, size
from aqmlab.models.comparison.row import NotApplicable, Row
from aqmlab.models.comparison.transfers import tcp_of
from aqmlab.models.power_of_ecn import TARGET_S

ASKING = ("request_response", "web", "requests")
"""Kinds of traffic in which servers send responses."""
FEW = 100
"""Minimum number of responses to estimate the distribution of their sizes."""


def rows(place: Place) -> tuple[list[Row], BatchQueue]:
    """Return the compared quantities of two queue models, and the M[X]/D/1 model.

    Raises
    ------
    NotApplicable
        If the model does not apply, with the reason.
    """
    tables = place.answering
    if not tables:
        raise NotApplicable(
            f"the model of bursts needs responses of servers, and no response crosses {place.link}"
        )
    if place.any_forward:
        raise NotApplicable(
            "the model of bursts needs a link with responses only, but other data crosses "
            f"{place.link}"
        )
    if place.queue["kind"] != "drop_tail" or place.count("dropped_packets"):
        raise NotApplicable(
            "the model of bursts needs a queue of kind drop_tail that drops no packet"
        )
    requests = place.recorded("requests")
    here = np.isin(np.array(requests["flow"]), [name for _, names in tables for name in names])
    sizes = np.asarray(requests["response_bytes"], dtype=float)[here]
    sizes = sizes[sizes > 0]
    if len(sizes) < FEW:
        raise NotApplicable(
            f"the run has {len(sizes)} responses, and the distribution of their sizes needs at "
            f"least {FEW}"
        )
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
    """Return the measured share, in %, of packets that waited longer than the target delay."""
    try:
        return 100 * place.waits_over(TARGET_S)
    except NotApplicable:
        return float("nan")
