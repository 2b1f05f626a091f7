"""`aqmlab traffic`: statistics of the traffic of a scenario, without simulating the network."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.command import completion
from aqmlab.command.options import (
    ForceOption,
    SeedOption,
    SetOption,
    out,
    read_count,
    read_overrides,
    read_rate,
    read_time,
)
from aqmlab.command.terminal import console, print_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aqmlab.statistics import Hurst
    from aqmlab.traffic import Distribution, Sample

MADE_BY = "aqmlab traffic"
USERS = 100
SECONDS = 3600.0
BINS = 2000
"""Minimum number of sampling intervals, and of requests, to estimate the Hurst parameter."""
EXAMPLES = (
    "aqmlab traffic surge --users 10 --duration '600 s'",
    "aqmlab traffic examples/web_users.toml --duration '60 s' --out results/web_users-traffic",
)


def traffic_command(
    source: Annotated[
        str,
        typer.Argument(
            help="Scenario whose traffic is shown, or the name of a preset of web traffic, such "
            "as surge.",
            metavar="PRESET|FILE",
            autocompletion=completion.scenarios,
        ),
    ],
    users: Annotated[
        str | None,
        typer.Option(
            help="Number of web users in each [[flows]] table with web traffic.",
            metavar="N",
            show_default="the key count of the table, or 100 for a preset",
        ),
    ] = None,
    duration: Annotated[
        str | None,
        typer.Option(
            help="Simulated time for which users send requests, e.g. '600 s'.",
            metavar="TIME",
            show_default="the duration of the scenario, or 3600 s if it has none",
        ),
    ] = None,
    rate: Annotated[
        str,
        typer.Option(
            help="Assumed rate in the figure of the load over time: the bytes of each response "
            "arrive at this rate.",
            metavar="RATE",
        ),
    ] = "10 Mbit/s",
    interval: Annotated[
        str,
        typer.Option(
            help="Averaging interval in the figure of the load over time.",
            metavar="TIME",
        ),
    ] = "100 ms",
    shortest: Annotated[
        str,
        typer.Option(
            help="Minimum averaging time for the estimate of the Hurst parameter from variances.",
            metavar="TIME",
        ),
    ] = "1 s",
    seed: SeedOption = None,
    changes: SetOption = None,
    to: Annotated[Path | None, out("nothing is written")] = None,
    force: ForceOption = False,
) -> None:
    """Show the sizes, times and load of the traffic in a scenario, without simulating the network.

    For web traffic, the command also generates the requests of random users, and estimates the
    Hurst parameter of their load. The output is a folder with figures of the sizes, the load and
    the Hurst parameter.
    """
    from aqmlab import ready, traffic
    from aqmlab.scenario import normalize

    preset = source in traffic.presets()
    if not preset and not (Path(source).is_file() or source in ready.names()):
        known = ", ".join(traffic.presets())
        raise ValueError(f"{source!r} is neither a scenario nor a preset; the presets are {known}")
    scenario = traffic.of_preset(source) if preset else Path(source)
    example = "flows.0.traffic.objects=5"
    overrides = read_overrides(changes, seed, example=example)
    document = json.loads(normalize(scenario, overrides=overrides))
    seconds = read_time("--duration", duration or document["duration"] or f"{SECONDS:g} s")
    bin_s, shortest_s = read_time("--interval", interval), read_time("--shortest", shortest)
    rate_bps = read_rate("--rate", rate)
    count = read_count("--users", users) or (USERS if preset else None)
    for flow in document["flows"]:
        if flow["traffic"]["kind"] != "web" and (written := traffic.distributions(flow["traffic"])):
            show(flow["name"], flow["traffic"]["kind"], written, None)
    samples = traffic.sample(scenario, seconds, count, None, overrides)
    if not samples and to:
        raise ValueError(
            f"--out: {source} has no web traffic, and figures show web traffic; leave out --out"
        )
    estimated: list[dict[str, Hurst]] = []
    for one in samples:
        show(one.name, "web", traffic.distributions(one.traffic), one)
        show_load(one)
        long_enough = 0.9 * seconds / bin_s >= BINS and len(one.requests) > BINS
        if long_enough:
            estimated.append(one.hurst(bin_s, rate_bps, shortest_s))
            show_hurst(estimated[-1])
        else:
            estimated.append({})
            print_text(
                f"The estimate of the Hurst parameter needs more than {BINS} requests and {BINS} "
                "intervals; "
                "increase --duration."
            )
    if to:
        origin = f"{source}; seed {document['seed']}"
        write_figures(samples, estimated, to, bin_s, rate_bps, origin, force=force)


def show(name: str, kind: str, written: "dict[str, Distribution]", sample: "Sample | None") -> None:
    """Print the specified distributions of a flow table, and those of a random sample."""
    import numpy as np
    from rich.table import Table

    from aqmlab.traffic import LARGEST, PROBABILITIES

    table = Table(title=f"{name} ({kind})")
    table.add_column("key")
    table.add_column("")
    share = f"share of largest {100 * LARGEST:g} %"
    for head in ("number", "mean", "median", "90 %", "99 %", share):
        table.add_column(head, justify="right")
    drawn = sample.drawn if sample else {}
    for key, specified in written.items():
        numbers = (with_unit(specified.quantity, x) for x in (specified.mean, *specified.quantiles))
        values = drawn.get(key)
        known = values is not None and len(values) > 0
        largest = f"{100 * specified.largest:.0f} %" if specified.mean else "–"
        table.add_row(key, "specified", "", *numbers, largest, end_section=not known)
        if values is None or not known:
            continue
        ordered = np.sort(values)[::-1]
        total = float(ordered.sum())
        of_largest = float(ordered[: max(1, round(LARGEST * len(ordered)))].sum())
        numbers = (
            with_unit(specified.quantity, x)
            for x in (values.mean(), *np.quantile(values, PROBABILITIES))
        )
        largest = f"{100 * of_largest / total:.0f} %" if total else "–"
        table.add_row("", "drawn", str(len(values)), *numbers, largest, end_section=True)
    console().print(table)


def with_unit(quantity: str, x: float) -> str:
    """Format a value with its unit and four significant digits.

    Examples
    --------
    >>> with_unit("size", 7200.0), with_unit("times", 0.0123), with_unit("count", 3)
    ('7.2 kB', '12.3 ms', '3')
    """
    units = {
        "size": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B")),
        "times": ((1, "s"), (1e-3, "ms"), (1e-6, "us")),
        "count": ((1, ""),),
    }[quantity]
    scale, unit = next((one for one in units if x >= one[0]), units[-1] if x else units[0])
    return f"{x / scale:.4g} {unit}".rstrip()


def show_load(sample: "Sample") -> None:
    """Print the load of the sampled users, and the load expected from the specified mean values."""
    print_text(
        f"{sample.users} users, {sample.duration_s:g} s: {sample.load_bps / 1e6:.4g} Mbit/s of "
        "responses. The load expected from the mean values in the scenario is "
        f"{sample.expected_load_bps / 1e6:.4g} Mbit/s."
    )


def show_hurst(estimated: "dict[str, Hurst]") -> None:
    """Print the Hurst parameter estimated by each method, with its 95 % confidence interval."""
    for name, hurst in estimated.items():
        low, middle, high = hurst.interval
        print_text(f"Hurst parameter by {name}: {middle:.2f} (95 %: {low:.2f} to {high:.2f})")


def write_figures(
    samples: "Sequence[Sample]",
    estimated: "Sequence[dict[str, Hurst]]",
    folder: Path,
    bin_s: float,
    rate_bps: float,
    origin: str,
    *,
    force: bool,
) -> None:
    """Write figures of the sampled traffic into a folder; `origin` has its scenario and seed."""
    from aqmlab.figures import save_all
    from aqmlab.figures import traffic as figures
    from aqmlab.folder import appearing

    with appearing(folder, MADE_BY, force=force) as new:
        for i, (sample, hurst) in enumerate(zip(samples, estimated, strict=True)):
            before = f"{i}-" if len(samples) > 1 else ""
            drawn = {"sizes": figures.sizes(sample)}
            if hurst:
                drawn["load"] = figures.load(sample, bin_s, rate_bps)
                drawn["hurst"] = figures.hurst(hurst, bin_s)
            for name, figure in drawn.items():
                save_all(figure, new / f"{before}{name}", origin)
    print_text(f"Written to {folder}.")
