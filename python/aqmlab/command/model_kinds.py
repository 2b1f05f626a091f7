"""Subcommands of `aqmlab model`, one per analytic model."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.command.model_shown import draw, drawable, number, show
from aqmlab.command.options import PlotOption, read_change, read_count, read_rate, read_time
from aqmlab.command.terminal import print_text

if TYPE_CHECKING:
    from aqmlab.models.batch_queue import Batches
    from aqmlab.models.fluid.controllers import Controller
    from aqmlab.models.fluid.network import Network

RESPONSES = "response_bytes"
"""Name of the column with the sizes of the responses in a list of requests."""

Load = Annotated[
    float, typer.Option(help="Load ρ of the server, above 0 and below 1.", metavar="X")
]
Rate = Annotated[str, typer.Option(help="Rate of the link, e.g. '10 Mbit/s'.", metavar="RATE")]
Packet = Annotated[int, typer.Option(help="Packet size in bytes.", metavar="N", min=1)]
Rtt = Annotated[str, typer.Option(help="Round-trip time, e.g. '100 ms'.", metavar="TIME")]
Loss = "Share of segments that the network drops or marks, 0 to 1."
Rto = Annotated[str, typer.Option(help="Initial retransmission timeout.", metavar="TIME")]


def batch_queue(
    load: Load = 0.8,
    flows: Annotated[
        str | None,
        typer.Option(
            help="Flow sizes in packets, each with a weight: with 7:3,20:1, three of four flows "
            "have 7 packets and the fourth has 20 packets.",
            metavar="N:W,...",
        ),
    ] = None,
    sizes: Annotated[
        Path | None,
        typer.Option(
            help="File with flow sizes in bytes, one per line. If `aqmlab calibrate` wrote the "
            "file, the flow sizes are the sizes of the responses in it.",
            metavar="FILE",
        ),
    ] = None,
    batches: Annotated[
        str | None,
        typer.Option(
            help="Burst sizes in packets, each with a weight, e.g. 1:1,2:1,4:1.",
            metavar="N:W,...",
        ),
    ] = None,
    rate: Rate = "100 Mbit/s",
    packet: Packet = 1000,
    delay: Annotated[
        str,
        typer.Option(help="Delay whose probability of being exceeded is computed.", metavar="TIME"),
    ] = "5 ms",
    initial: Annotated[
        float | None,
        typer.Option(
            help="Size of the first burst of a flow, in packets.",
            metavar="X",
            show_default="2 for short flows, 1 for long flows",
        ),
    ] = None,
    growth: Annotated[
        float,
        typer.Option(
            help="Factor by which the burst of a flow grows per round trip: 2 in slow start, 1.5 "
            "with delayed ACKs.",
            metavar="X",
        ),
    ] = 2.0,
    plot: PlotOption = None,
) -> None:
    """Compute the queue when packets arrive in bursts (models M[X]/M/1 and M[X]/D/1).

    Exactly one of the options --flows, --sizes and --batches must describe the bursts.
    """
    from aqmlab.models.batch_queue import BatchQueue, MxD1, MxM1

    drawable(plot)
    bursts = _batches(flows, sizes, batches, packet, initial, growth)
    bps, seconds = read_rate("--rate", rate), read_time("--delay", delay)
    service = 8 * packet / bps
    both: dict[str, BatchQueue] = {
        "M[X]/M/1": MxM1(load, bursts, service),
        "M[X]/D/1": MxD1(load, bursts, service),
    }
    late = f"{1e3 * seconds:g} ms"
    rows: list[tuple[str, str, Callable[[BatchQueue], float]]] = [
        ("mean number in the system", "packets", lambda q: q.mean_system),
        ("mean number of waiting packets", "packets", lambda q: q.mean_queue),
        ("mean wait of a packet", "ms", lambda q: 1e3 * q.mean_wait),
        ("mean wait of a burst", "ms", lambda q: 1e3 * q.mean_work),
        (f"P(a burst waits longer than {late})", "%", lambda q: 100 * q.work_exceeds(seconds)),
        (f"P(a packet waits longer than {late})", "%", lambda q: 100 * q.wait_exceeds(seconds)),
    ]
    show(
        f"Load {load:g}, mean burst {bursts.mean:.4g} packets (mean per packet: "
        f"{bursts.packets_a_batch_seen:.4g} packets)",
        ["quantity", *both, "unit"],
        [[name, *(number(value(q)) for q in both.values()), unit] for name, unit, value in rows],
    )
    if plot:
        from aqmlab.figures import models as figures

        draw(figures.delays(both), plot)


def _batches(
    flows: str | None,
    sizes: Path | None,
    batches: str | None,
    packet: int,
    initial: float | None,
    growth: float,
) -> "Batches":
    """Return the burst sizes that --flows, --sizes or --batches describes.

    Raises
    ------
    ValueError
        If none or several of the options --flows, --sizes and --batches are present, or if the
        value of the option is wrong.
    """
    from aqmlab.models import bursts
    from aqmlab.models.batch_queue import Batches

    options = {"--flows": flows, "--sizes": sizes, "--batches": batches}
    present = [name for name, value in options.items() if value]
    if len(present) != 1:
        count = f"{' and '.join(present)} are present" if present else "all are absent"
        raise ValueError(f"give exactly one of the options --flows, --sizes and --batches; {count}")
    if batches:
        return Batches.of(_weights("--batches", batches))
    ramp = bursts.Ramp(initial or 2, None if initial else 1, growth)
    if sizes:
        return bursts.of_responses(_sizes(sizes), packet, ramp=ramp)
    return bursts.batches(_weights("--flows", flows or ""), ramp=ramp, packet=packet)


def _sizes(file: Path) -> list[float]:
    """Return the flow sizes in a file: one number per line, or a list of requests."""
    first, *rest = file.read_text("utf-8").splitlines() or [""]
    heads = [head.strip() for head in first.split(",")]
    at = heads.index(RESPONSES) if RESPONSES in heads else 0
    lines = rest if RESPONSES in heads else [first, *rest]
    try:
        return [float(line.split(",")[at]) for line in lines if line.strip()]
    except (ValueError, IndexError):
        raise ValueError(
            f"--sizes {file} is not a list of flow sizes; give a file with a number of bytes on "
            f"each line, or a CSV file with the column {RESPONSES}, as aqmlab calibrate writes it"
        ) from None


def _weights(option: str, text: str) -> dict[int, float]:
    """Parse sizes with weights, such as ``7:3,20:1``, and return the weight of each size."""
    weights: dict[int, float] = {}
    for part in text.split(","):
        size, colon, weight = part.partition(":")
        try:
            weights[int(size)] = weights.get(int(size), 0.0) + (float(weight) if colon else 1.0)
        except ValueError:
            raise ValueError(
                f"{option} {part!r} is not a size with a weight; write SIZE:WEIGHT, for example 7:3"
            ) from None
    return weights


def queue(
    load: Load = 0.8,
    service: Annotated[str, typer.Option(help="Mean service time.", metavar="TIME")] = "1 ms",
    variation: Annotated[
        float,
        typer.Option(
            help="Squared coefficient of variation of the service time, for the model M/G/1.",
            metavar="X",
        ),
    ] = 0.5,
    limit: Annotated[
        str,
        typer.Option(
            help="Maximum number of packets in the system, for the model M/M/1/K.", metavar="N"
        ),
    ] = "20",
) -> None:
    """Compute the queue when packets arrive one at a time (M/M/1, M/D/1, M/G/1, M/M/1/K)."""
    from aqmlab.models.batch_queue import BatchQueue
    from aqmlab.models.single_server import MG1, MM1K, md1, mm1

    seconds = read_time("--service", service)
    full = MM1K(load, read_count("--limit", limit) or 1, seconds)
    every: dict[str, BatchQueue | MG1] = {
        "M/M/1": mm1(load, seconds), "M/D/1": md1(load, seconds),
        "M/G/1": MG1(load, seconds, variation),
    }  # fmt: skip
    rows = [
        [name, number(q.mean_system), number(1e3 * q.mean_wait), "0"] for name, q in every.items()
    ]
    last = [number(full.mean_system), number(1e3 * full.mean_wait), number(100 * full.loss)]
    show(
        f"Load {load:g}, mean service time {1e3 * seconds:g} ms",
        ["queue", "mean number (packets)", "mean wait (ms)", "loss (%)"],
        [*rows, [f"M/M/1/{full.limit}", *last]],
    )


def tcp(
    p: Annotated[float, typer.Option("--p", help=Loss, metavar="X")],
    rtt: Rtt,
    rto: Rto = "1 s",
    mss: Annotated[
        int,
        typer.Option(help="Maximum segment size: bytes of data per segment.", metavar="N", min=1),
    ] = 1460,
    per_ack: Annotated[float, typer.Option(help="Segments per ACK (b).", metavar="X")] = 2,
) -> None:
    """Compute the throughput of TCP at a given share of lost or marked segments."""
    from aqmlab.models import tcp_rates

    r, t0 = read_time("--rtt", rtt), read_time("--rto", rto)
    windows = {
        "square-root law (Reno)": tcp_rates.square_root(p, per_ack=per_ack),
        "PFTK (Reno)": tcp_rates.pftk(p, r, t0, per_ack=per_ack) * r,
        "PFTK, simplified": tcp_rates.pftk_simple(p, r, t0, per_ack=per_ack) * r,
        "CUBIC": tcp_rates.cubic(p, r),
        "Scalable, W p = 2": tcp_rates.scalable(p),
    }
    show(
        f"p = {100 * p:g} %, RTT {1e3 * r:g} ms",
        ["model", "window (segments)", "rate (Mbit/s)"],
        [[name, number(w), number(8e-6 * mss * w / r)] for name, w in windows.items()],
    )


def dctcp(
    flows: Annotated[
        float,
        typer.Option(help="Number of DCTCP flows, whose windows oscillate in step.", metavar="N"),
    ],
    rate: Rate,
    rtt: Rtt,
    threshold: Annotated[
        float,
        typer.Option(
            help="Queue length K at which the queue begins to mark packets, in packets.",
            metavar="X",
        ),
    ],
    packet: Packet = 1500,
) -> None:
    """Compute the oscillation of a queue with DCTCP flows and a marking threshold."""
    from aqmlab.models.dctcp import StepMarking, least_threshold

    c, r = read_rate("--rate", rate) / 8 / packet, read_time("--rtt", rtt)
    model = StepMarking(flows, c, r, threshold)
    show(
        f"{flows:g} flows, C·RTT = {c * r:.4g} packets, K = {threshold:g} packets",
        ["quantity", "value", "unit"],
        [
            ["maximum queue", number(model.most), "packets"],
            ["minimum queue", number(model.least), "packets"],
            ["share of marks α", number(100 * model.alpha), "%"],
            ["period", number(1e3 * model.period_s), "ms"],
            ["minimum K without idle link", number(least_threshold(c, r)), "packets"],
            ["maximum gain g", number(model.greatest_gain), ""],
        ],
    )


def short_flow(
    segments: Annotated[str, typer.Option(help="Transfer size in segments.", metavar="N")],
    rtt: Rtt,
    initial: Annotated[
        float, typer.Option(help="Initial congestion window in segments.", metavar="X")
    ] = 10,
    growth: Annotated[
        float,
        typer.Option(
            help="Factor by which the congestion window grows per round trip: 2, or 1.5 with "
            "delayed ACKs.",
            metavar="X",
        ),
    ] = 2,
    p: Annotated[
        float,
        typer.Option("--p", help="Share of segments that the network drops, 0 to 1.", metavar="X"),
    ] = 0,
    rto: Rto = "1 s",
) -> None:
    """Compute the duration of a short TCP transfer, with and without loss."""
    from aqmlab.models import short_flows

    n = read_count("--segments", segments) or 1
    r, t0 = read_time("--rtt", rtt), read_time("--rto", rto)
    latency = short_flows.latency(n, r, initial=initial, growth=growth)
    expected = short_flows.cardwell(n, p, r, t0, initial=initial, growth=growth)
    show(
        f"{n} segments, RTT {1e3 * r:g} ms",
        ["quantity", "value", "unit"],
        [
            ["round trips with data",
             str(short_flows.rounds(n, initial=initial, growth=growth)), ""],
            ["duration without loss", number(1e3 * latency), "ms"],
            [f"expected duration, p = {100 * p:g} %", number(1e3 * expected), "ms"],
        ],
    )  # fmt: skip


def loop(
    aqm: Annotated[
        str, typer.Argument(help="Name of the AQM: red, pi, pie or pi2.", metavar="AQM")
    ],
    flows: Annotated[float, typer.Option(help="Number of Reno flows.", metavar="N")],
    rate: Rate,
    rtt: Annotated[
        str, typer.Option(help="Round-trip time without queueing, e.g. '100 ms'.", metavar="TIME")
    ],
    packet: Packet = 1500,
    per_ack: Annotated[float, typer.Option(help="Segments per ACK (b).", metavar="X")] = 1,
    values: Annotated[
        list[str] | None,
        typer.Option(
            "--parameter",
            metavar="KEY=VALUE",
            help="Value of a parameter of the AQM, as a number without its unit. red has minth "
            "and maxth (packets), maxp and wq. pi has qref (packets), period (s), and either k "
            "and z or a and b. pie and pi2 have target and period (s), alpha and beta (1/s). "
            "Repeat --parameter for several parameters.",
            show_default="the published values",
        ),
    ] = None,
    step: Annotated[
        float | None,
        typer.Option(
            help="Number of flows from 20 s on, in the figure that --step-plot writes.",
            metavar="N",
            show_default="no change",
        ),
    ] = None,
    plot: PlotOption = None,
    step_plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write a figure of the queue and the signal probability over 100 s to this "
            "image file: .png, .svg or .pdf.",
            show_default="no image",
        ),
    ] = None,
) -> None:
    """Compute the equilibrium and the stability margins of Reno flows under an AQM.

    --plot draws the gain and phase of the control loop over the frequency (Bode plot).
    """
    from aqmlab.models.fluid.margins import Loop
    from aqmlab.models.fluid.network import Network

    drawable(plot)
    drawable(step_plot, "--step-plot")
    if step is not None and not step_plot:
        raise ValueError(
            "--step needs --step-plot, because --step changes only the figure of --step-plot; "
            "add --step-plot"
        )
    network = Network(
        flows, read_rate("--rate", rate) / 8 / packet, read_time("--rtt", rtt), per_ack=per_ack
    )
    controller = _controller(
        aqm, network, dict(read_change(v, "minth=20", "--parameter") for v in values or [])
    )
    short = Loop(network, controller)
    exact = Loop(network, controller, exact=True)
    rest = short.rest
    rows = [
        ["queue in equilibrium", number(rest.queue), "", "packets"],
        ["window in equilibrium", number(rest.window), "", "packets"],
        ["signals in equilibrium", number(100 * rest.probability), "", "%"],
    ]
    for quantity, unit, scale, name in (
        ("crossover", "rad/s", 1, "crossover"),
        ("phase margin", "°", 1, "phase_margin_deg"),
        ("gain margin", "factor", 1, "gain_margin"),
        ("delay margin", "ms", 1e3, "delay_margin_s"),
    ):
        both = [number(scale * getattr(one, name)) for one in (short, exact)]
        rows.append([quantity, *both, unit])
    stability = "stable" if short.is_stable else "unstable"
    heads = ["quantity", "short", "whole linear", "unit"]
    show(f"{aqm}, {flows:g} flows: {stability}", heads, rows)
    print_text(
        "The column 'short' uses the published linear model of TCP, which neglects the delay of "
        "one round trip in the window equation. The linear model of the column 'whole linear' "
        "includes the delay of one round trip."
    )
    _loop_plots(short, aqm, step, plot, step_plot)


def _loop_plots(
    loop: Any, aqm: str, step: float | None, plot: Path | None, step_plot: Path | None
) -> None:
    """Write the figures of a control loop over frequency and over time, if they are requested."""
    from aqmlab.figures import models as figures
    from aqmlab.models.fluid.over_time import over_time

    if plot:
        draw(figures.bode({aqm: loop}), plot)
    if step_plot:
        flows = [(20.0, step)] if step else []
        start = None if step else (loop.rest.window, loop.rest.queue / 2)
        course = over_time(loop.network, loop.controller, 100, flows=flows, start=start)
        draw(figures.courses({aqm: course}), step_plot)


def _controller(name: str, network: "Network", values: dict[str, str]) -> "Controller":
    """Return an AQM with the given parameters; all other parameters have their published values."""
    from aqmlab.models.fluid.controllers import PI2, PIE, DelayController, Integral, Red
    from aqmlab.models.fluid.design import pi_of

    def take(key: str, default: float) -> float:
        text = values.pop(key, None)
        try:
            return default if text is None else float(text)
        except ValueError:
            raise ValueError(
                f"--parameter {key}={text} is not a number; give a number without a unit"
            ) from None

    aqm: Controller
    if name == "red":
        minth = take("minth", 5)
        aqm = Red(minth, take("maxth", 3 * minth), take("maxp", 0.1), take("wq", 0.002))
    elif name == "pi":
        queue, period = take("qref", 200), take("period", 0.00625)
        rule = pi_of(network.at(queue), period)
        if "a" in values or "b" in values:
            a, b = rule.coefficients
            aqm = Integral.of_coefficients(take("a", a), take("b", b), period, queue)
        else:
            aqm = Integral(take("k", rule.k), take("z", rule.z), queue, period)
    elif name in ("pie", "pi2"):
        published = PIE if name == "pie" else PI2
        aqm = DelayController(
            take("target", published.target_s), take("period", published.period_s),
            take("alpha", published.alpha), take("beta", published.beta),
            auto_tuned=published.auto_tuned, squared=published.squared,
        )  # fmt: skip
    else:
        raise ValueError(f"the AQM is {name!r}; it must be one of red, pi, pie, pi2")
    if values:
        raise ValueError(
            f"--parameter {', '.join(values)}: {name} has no parameter of this name; see aqmlab "
            "model loop --help"
        )
    return aqm


def figure_7() -> None:
    """List interpretations of figure 7 of "The power of ECN", with the mean queue of each.

    The text of the article states a mean queue of 5 packets at one point of figure 7. The command
    lists variants of the article's queue model, and marks the variants that give this value.
    """
    from aqmlab.models.figure_7 import readings

    shown = [r for r in readings() if len(r.departures) < 2 or r.meets]
    show(
        "Mean queue for flows of 7.22 packets at load 0.8, for which the article states 5 packets",
        ["difference from the text", "packets", "rounds to 5"],
        [[", ".join(r.departures) or "none", f"{r.packets:.2f}", "yes" if r.meets else ""]
         for r in shown if len(r.departures) < 4],
    )  # fmt: skip


MODELS: dict[str, tuple[Callable[..., None], tuple[str, ...]]] = {
    "batch-queue": (
        batch_queue,
        (
            "aqmlab model batch-queue --flows 7:3,20:1 --load 0.9 --plot bursts.png",
            "aqmlab model batch-queue --batches 1:1,2:1,4:1 --rate '10 Mbit/s' --delay '5 ms'",
        ),
    ),
    "queue": (
        queue,
        (
            "aqmlab model queue --load 0.8 --service '1 ms'",
            "aqmlab model queue --load 0.95 --limit 50",
        ),
    ),
    "tcp": (
        tcp,
        (
            "aqmlab model tcp --p 0.01 --rtt '100 ms'",
            "aqmlab model tcp --p 0.001 --rtt '20 ms' --rto '200 ms' --mss 1448",
        ),
    ),
    "dctcp": (
        dctcp,
        (
            "aqmlab model dctcp --flows 2 --rate '1 Gbit/s' --rtt '1 ms' --threshold 20",
            "aqmlab model dctcp --flows 10 --rate '10 Gbit/s' --rtt '100 us' --threshold 65",
        ),
    ),
    "short-flow": (
        short_flow,
        (
            "aqmlab model short-flow --segments 70 --rtt '100 ms'",
            "aqmlab model short-flow --segments 70 --rtt '100 ms' --initial 3 --p 0.01",
        ),
    ),
    "loop": (
        loop,
        (
            "aqmlab model loop red --flows 60 --rate '15 Mbit/s' --rtt '200 ms' --packet 500 "
            "--parameter minth=20 --plot loop.png",
            "aqmlab model loop pi --flows 60 --rate '15 Mbit/s' --rtt '200 ms' --packet 500 "
            "--step 90 --step-plot step.png",
        ),
    ),
    "figure-7": (figure_7, ("aqmlab model figure-7", "aqmlab model figure-7 > figure-7.txt")),
}
"""Function and examples of each model, by name of its subcommand."""
