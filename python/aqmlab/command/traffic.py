"""`aqmlab traffic`: what traffic asks for, without a network."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.command.options import read_change, read_count, read_rate, read_time
from aqmlab.command.terminal import console, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aqmlab.statistics import Hurst
    from aqmlab.traffic import Distribution, Sample

MADE_BY = "aqmlab traffic"
USERS = 100
SECONDS = 3600.0
BINS = 2000
"""Intervals that a load needs at least, for its Hurst parameter."""


def traffic_command(
    what: Annotated[
        str, typer.Argument(help="A preset of web traffic, or a scenario.", metavar="PRESET|FILE")
    ],
    users: Annotated[
        str | None,
        typer.Option(
            help="Users of each table of web traffic; default: as the scenario has it, 100 of a "
            "preset.",
            metavar="N",
        ),
    ] = None,
    duration: Annotated[
        str | None,
        typer.Option(help="How long, e.g. '600 s'; default: the scenario's, an hour of a preset."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of every random stream; default: the scenario's.")
    ] = None,
    rate: Annotated[
        str, typer.Option(help="At which a response comes in, for the load over time.")
    ] = "10 Mbit/s",
    interval: Annotated[
        str, typer.Option(help="Of which the load over time is the mean.")
    ] = "100 ms",
    shortest: Annotated[
        str, typer.Option(help="The shortest span for the Hurst parameter by variances.")
    ] = "1 s",
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the scenario."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Folder to make with figures of sizes, load and Hurst.", metavar="DIR"),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace earlier figures in the folder.")
    ] = False,
) -> None:
    """Show what traffic asks for: sizes, objects, times, load, Hurst parameter."""
    from aqmlab import traffic
    from aqmlab.scenario import normalize

    preset = what in traffic.presets()
    if not preset and not Path(what).is_file():
        known = ", ".join(traffic.presets())
        raise ValueError(f"{what!r} is no file, and no preset of web traffic; known: {known}")
    scenario = traffic.of_preset(what) if preset else Path(what)
    example = "flows.0.traffic.objects=5"
    overrides = [read_change(change, example) for change in changes or []]
    document = json.loads(normalize(scenario, seed, overrides))
    seconds = read_time("--duration", duration or document["duration"] or f"{SECONDS:g} s")
    bin_s, shortest_s = read_time("--interval", interval), read_time("--shortest", shortest)
    rate_bps = read_rate("--rate", rate)
    count = read_count("--users", users) or (USERS if preset else None)
    for flow in document["flows"]:
        if flow["traffic"]["kind"] != "web" and (written := traffic.distributions(flow["traffic"])):
            show(flow["name"], flow["traffic"]["kind"], written, None)
    samples = traffic.sample(scenario, seconds, count, seed, overrides)
    if not samples and plot:
        raise ValueError(f"{what} has no traffic of the web, of which there would be figures")
    found: list[dict[str, Hurst]] = []
    for one in samples:
        show(one.name, "web", traffic.distributions(one.traffic), one)
        tell_load(one)
        long_enough = 0.9 * seconds / bin_s >= BINS and len(one.requests) > BINS
        if long_enough:
            found.append(one.hurst(bin_s, rate_bps, shortest_s))
            tell_hurst(found[-1])
        else:
            found.append({})
            say(f"Hurst parameter: needs {BINS} requests and intervals; sample for longer.")
    if plot:
        leave(samples, found, plot, bin_s, rate_bps, force=force)


def show(name: str, kind: str, written: "dict[str, Distribution]", sample: "Sample | None") -> None:
    """Print the distributions of a table of flows, as written and as drawn."""
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
    """Return a value with its unit, in four digits.

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


def tell_load(sample: "Sample") -> None:
    """Print the load of a sample, and that of the means."""
    say(
        f"{sample.users} users, {sample.duration_s:g} s: {sample.load_bps / 1e6:.4g} Mbit/s of "
        f"responses; {sample.expected_load_bps / 1e6:.4g} Mbit/s from the means as written."
    )


def tell_hurst(found: "dict[str, Hurst]") -> None:
    """Print what was found by each method."""
    for name, hurst in found.items():
        low, middle, high = hurst.interval
        say(f"Hurst parameter by {name}: {middle:.2f} (95 %: {low:.2f} to {high:.2f})")


def leave(
    samples: "Sequence[Sample]",
    found: "Sequence[dict[str, Hurst]]",
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
        for i, (sample, hurst) in enumerate(zip(samples, found, strict=True)):
            before = f"{i}-" if len(samples) > 1 else ""
            drawn = {"sizes": figures.sizes(sample)}
            if hurst:
                drawn["load"] = figures.load(sample, bin_s, rate_bps)
                drawn["hurst"] = figures.hurst(hurst, bin_s)
            for name, figure in drawn.items():
                for suffix in ("png", "svg"):
                    save(figure, new / f"{before}{name}.{suffix}")
    say(f"Written to {folder}.")
