"""`aqmlab traffic`: sizes, times and load of the traffic of a scenario, without a network."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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
from aqmlab.command.terminal import console, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aqmlab.statistics import Hurst
    from aqmlab.traffic import Distribution, Sample

MADE_BY = "aqmlab traffic"
USERS = 100
SECONDS = 3600.0
BINS = 2000
"""Minimum number of intervals, and of requests, for the Hurst parameter of a load."""
EXAMPLES = (
    "aqmlab traffic surge --users 10 --duration '600 s'",
    "aqmlab traffic examples/web_users.toml --duration '60 s' --out results/web_users-traffic",
)


def traffic_command(
    what: Annotated[
        str,
        typer.Argument(
            help="A preset of web traffic, such as surge, or a scenario.", metavar="PRESET|FILE"
        ),
    ],
    users: Annotated[
        str | None,
        typer.Option(
            help="Number of users of each table of web traffic.",
            metavar="N",
            show_default="the number in the scenario, 100 for a preset",
        ),
    ] = None,
    duration: Annotated[
        str | None,
        typer.Option(
            help="Time that is sampled, e.g. '600 s'.",
            metavar="TIME",
            show_default="the duration of the scenario, else 3600 s",
        ),
    ] = None,
    rate: Annotated[
        str,
        typer.Option(
            help="Rate at which a response arrives, for the load over time.", metavar="RATE"
        ),
    ] = "10 Mbit/s",
    interval: Annotated[
        str,
        typer.Option(help="Interval that the load over time is averaged over.", metavar="TIME"),
    ] = "100 ms",
    shortest: Annotated[
        str,
        typer.Option(
            help="Minimum span of the variances that give the Hurst parameter.", metavar="TIME"
        ),
    ] = "1 s",
    seed: SeedOption = None,
    changes: SetOption = None,
    to: Annotated[Path | None, out("nothing is written")] = None,
    force: ForceOption = False,
) -> None:
    """Show the sizes, times and load that traffic requests, without simulating a network.

    For web traffic also a sample of users is drawn, and the Hurst parameter of its load is
    estimated. The output is a folder with figures of sizes, load and Hurst parameter.
    """
    from aqmlab import traffic
    from aqmlab.scenario import normalize

    preset = what in traffic.presets()
    if not preset and not Path(what).is_file():
        known = ", ".join(traffic.presets())
        raise ValueError(f"{what!r} must be a file, or a preset of web traffic: {known}")
    scenario = traffic.of_preset(what) if preset else Path(what)
    example = "flows.0.traffic.objects=5"
    overrides = read_overrides(changes, seed, example)
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
        raise ValueError(f"{what} has no web traffic, and only that has figures; leave --out out")
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
            say(
                f"Hurst parameter: it needs more than {BINS} requests and intervals; sample for a "
                "longer --duration."
            )
    if to:
        leave(samples, estimated, to, bin_s, rate_bps, force=force)


def show(name: str, kind: str, written: "dict[str, Distribution]", sample: "Sample | None") -> None:
    """Print the distributions of a table of flows: as specified, and of a sample."""
    import numpy as np
    from rich.table import Table

    from aqmlab.traffic import LARGEST, PROBABILITIES

    table = Table(title=f"{name} ({kind})")
    table.add_column("key")
    table.add_column("")
    for head in ("number", "mean", "median", "90 %", "99 %", f"largest {100 * LARGEST:g} % have"):
        table.add_column(head, justify="right")
    drawn = sample.drawn if sample else {}
    for key, law in written.items():
        of = (written_as(law.what, x) for x in (law.mean, *law.quantiles))
        values = drawn.get(key)
        known = values is not None and len(values) > 0
        largest = f"{100 * law.largest:.0f} %" if law.mean else "–"
        table.add_row(key, "as written", "", *of, largest, end_section=not known)
        if values is None or not known:
            continue
        ordered = np.sort(values)[::-1]
        total = float(ordered.sum())
        most = float(ordered[: max(1, round(LARGEST * len(ordered)))].sum())
        of = (written_as(law.what, x) for x in (values.mean(), *np.quantile(values, PROBABILITIES)))
        share = f"{100 * most / total:.0f} %" if total else "–"
        table.add_row("", "drawn", str(len(values)), *of, share, end_section=True)
    console().print(table)


def written_as(what: str, x: float) -> str:
    """Return a value with its unit, to four digits.

    Examples
    --------
    >>> written_as("size", 7200.0), written_as("times", 0.0123), written_as("count", 3)
    ('7.2 kB', '12.3 ms', '3')
    """
    units = {
        "size": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B")),
        "times": ((1, "s"), (1e-3, "ms"), (1e-6, "us")),
        "count": ((1, ""),),
    }[what]
    scale, unit = next((one for one in units if x >= one[0]), units[-1] if x else units[0])
    return f"{x / scale:.4g} {unit}".rstrip()


def show_load(sample: "Sample") -> None:
    """Print the load of a sample, and the load that its means predict."""
    say(
        f"{sample.users} users, {sample.duration_s:g} s: {sample.load_bps / 1e6:.4g} Mbit/s of "
        f"responses; {sample.expected_load_bps / 1e6:.4g} Mbit/s from the means as written."
    )


def show_hurst(estimated: "dict[str, Hurst]") -> None:
    """Print the Hurst parameter by each method, with its 95 % interval."""
    for name, hurst in estimated.items():
        low, middle, high = hurst.interval
        say(f"Hurst parameter by {name}: {middle:.2f} (95 %: {low:.2f} to {high:.2f})")


def leave(
    samples: "Sequence[Sample]",
    estimated: "Sequence[dict[str, Hurst]]",
    folder: Path,
    bin_s: float,
    rate_bps: float,
    *,
    force: bool,
) -> None:
    """Write the figures of samples into a folder."""
    from aqmlab.figures import save
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
                for suffix in ("png", "svg"):
                    save(figure, new / f"{before}{name}.{suffix}")
    say(f"Written to {folder}.")
