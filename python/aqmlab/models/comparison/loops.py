"""Fluid model of Reno flows under RED, PI, PIE or PI2: equilibrium and stability margins."""

from dataclasses import replace
from typing import Any

from aqmlab.models.comparison.place import Place, packets, size, time
from aqmlab.models.comparison.row import NotApplicable, Row
from aqmlab.models.comparison.transfers import RENO, endless, per_ack_of, round_trip, tcp_of
from aqmlab.models.fluid.controllers import Controller, DelayController, Integral, Red
from aqmlab.models.fluid.design import pi_of
from aqmlab.models.fluid.margins import Loop
from aqmlab.models.fluid.network import Network

PI = (1.822e-5, 1.816e-5)
"""Coefficients a and b of `hollot2001pi`, which are the defaults of the queue `pi`."""


def rows(place: Place) -> tuple[list[Row], Loop]:
    """Return the compared quantities, which are equilibrium and stability margins, and the loop.

    Raises
    ------
    NotApplicable
        If the fluid model does not apply, with the reason.
    """
    queue = place.queue
    if queue["kind"] not in CONTROLLERS:
        raise NotApplicable(f"the fluid model needs {', '.join(CONTROLLERS)}, not {queue['kind']}")
    tables = place.crossing
    if not tables or not all(endless(table) for table, _ in tables):
        raise NotApplicable(
            "the fluid model needs transfers of unlimited size, without other traffic on the link"
        )
    kinds = {tcp_of(place, table)["sender"]["congestion"]["kind"] for table, _ in tables}
    if kinds - set(RENO):
        raise NotApplicable(
            f"the fluid model needs the congestion control Reno, not {', '.join(sorted(kinds))}"
        )
    sender = tcp_of(place, tables[0][0])["sender"]
    packet = size(sender["mss"]) + size(sender["wire"]["data_header"])
    names = [name for _, of in tables for name in of]
    per_ack = per_ack_of(tcp_of(place, tables[0][0]))
    path = round_trip(place, names)[0] - place.mean_delay_s
    try:
        network = Network(len(names), place.bps / 8 / packet, path, per_ack=per_ack)
        loop = Loop(network, CONTROLLERS[queue["kind"]](queue, network, packet))
        rest = loop.rest
    except ValueError as e:
        raise NotApplicable(f"the fluid model has no equilibrium for this scenario: {e}") from None
    return _rows(place, loop, rest), loop


def _rows(place: Place, loop: Loop, rest: Network) -> list[Row]:
    link, c = place.link, rest.packets_per_s
    measured = place.mean_delay_s * c
    signals = place.count("dropped_packets") + place.count("marked_packets")
    assumed = (
        f"{rest.flows:g} flows in congestion avoidance, {c:.4g} packets/s, RTT "
        f"{1e3 * rest.propagation_s:.4g} ms without queueing (all measured); random signals"
    )
    at_rest = f"W² p = 2/b, b = {rest.per_ack:g}; no slow start and no timeouts"
    margins = (
        ("crossover", "rad/s", loop.crossover),
        ("phase margin", "°", loop.phase_margin_deg),
        ("gain margin", "factor", loop.gain_margin),
        ("delay margin", "ms", 1e3 * loop.delay_margin_s),
    )
    name = f"fluid, {place.queue['kind']}"
    stable = "unstable, with oscillations about the equilibrium"
    if loop.is_stable and not loop.crossover:
        stable = "stable, because the gain is below 1 at every frequency"
    elif loop.is_stable:
        stable = f"stable, and settles within about {3 / loop.crossover:.2g} s"
    return [
        Row(name, link, "queue", "packets", rest.queue, measured, assumed),
        Row(name, link, "signals", "% of packets", 100 * rest.probability,
            100 * signals / place.count("arrived_packets"), at_rest),
        *(Row(name, link, what, unit, value, assumed=stable) for what, unit, value in margins),
    ]  # fmt: skip


def _red(queue: dict[str, Any], network: Network, packet: float) -> Controller:
    del network
    low, high = (packets(queue[key], packet) for key in ("minth", "maxth"))
    return Red(low, high, queue["maxp"], queue["wq"], queue["gentle"], queue["spacing"])


def _pi(queue: dict[str, Any], network: Network, packet: float) -> Controller:
    """Return the PI controller, with coefficients converted to the packet size of the flows."""
    own = size(queue["mean_packet_size"])
    larger = packet / own if "B" in queue["qref"] else 1.0
    period = time(queue["period"])
    reference = packets(queue["qref"], packet)
    if queue["max_rtt"] is not None:
        c = network.packets_per_s * packet / own
        law = pi_of(Network(queue["min_flows"], c, time(queue["max_rtt"])), period)
    else:
        a, b = (queue[key] or PI[i] for i, key in enumerate("ab"))
        law = Integral.of_coefficients(a, b, period, 0)
    return replace(law, k=law.k * larger, queue=reference)


def _of_delay(queue: dict[str, Any], network: Network, packet: float) -> Controller:
    del network, packet
    weights = (queue["alpha"], queue["beta"])
    squared = queue["kind"] == "pi2"
    target, period = time(queue["target"]), time(queue["t_update"])
    return DelayController(target, period, *weights, auto_tuned=not squared, squared=squared)


CONTROLLERS = {
    "red": _red,
    "pi": _pi,
    "pie": _of_delay,
    "pie_enhanced": _of_delay,
    "pi2": _of_delay,
}
