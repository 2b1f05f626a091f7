"""`aqmlab tune-red`: search for the thresholds minth and maxth of RED that suit given loads."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.command.options import (
    ForceOption,
    JobsOption,
    SeedOption,
    SetOption,
    StoreOption,
    WarmUpOption,
    out,
    read_change,
    read_count,
    read_overrides,
    replications,
)
from aqmlab.command.terminal import console, print_text, resumable

if TYPE_CHECKING:
    from aqmlab.experiment.tuning import Tuning

MADE_BY = "aqmlab tune-red"
EXAMPLES = (
    "aqmlab tune-red examples/red_loads.toml --loads 5,10 --warm-up '20 s' --replications 1",
    "aqmlab tune-red examples/red_loads.toml --load 'flows.0.count=5; network.queue.maxp=0.05' "
    "--load 'flows.0.count=20' --out results/tuned",
)


def tune_red_command(
    file: Annotated[
        Path, typer.Argument(help="Scenario with a RED queue, in TOML or JSON.", metavar="FILE")
    ],
    loads: Annotated[
        str | None,
        typer.Option(
            help="Loads as numbers of flows, e.g. 2,5,10 for three loads.",
            metavar="N,N",
            show_default="the number in the scenario",
        ),
    ] = None,
    flow: Annotated[
        str | None,
        typer.Option(
            help="Name of the [[flows]] table whose number of flows --loads changes.",
            metavar="NAME",
            show_default="the only table with unlimited bulk transfers, or the only table",
        ),
    ] = None,
    load: Annotated[
        list[str] | None,
        typer.Option(
            help="Load as a list of changed scenario keys, e.g. 'flows.0.count=9; "
            "tcp.ecn=rfc3168'. Repeat the option for several loads.",
            metavar="KEY=VALUE;...",
        ),
    ] = None,
    link: Annotated[
        str | None,
        typer.Option(
            help="Link whose RED thresholds are tuned.",
            metavar="FROM>TO",
            show_default="the only link whose queue has thresholds",
        ),
    ] = None,
    minth: Annotated[
        str | None,
        typer.Option(
            help="Minimum and maximum of the values of minth that the search simulates, e.g. 3:40. "
            "The values have the unit of minth in the scenario.",
            metavar="LOW:HIGH",
            show_default="from 2 packets or 2000 B to 64 times this minimum, as far as maxth fits "
            "the buffer",
        ),
    ] = None,
    ratio: Annotated[float, typer.Option(help="Ratio of maxth to minth.", metavar="X")] = 3.0,
    share: Annotated[
        float,
        typer.Option(
            help="Share of the time, 0 to 1, for which the average queue must be between the "
            "thresholds under every load.",
            metavar="X",
        ),
    ] = 0.9,
    seed: SeedOption = None,
    changes: SetOption = None,
    warm_up: WarmUpOption = None,
    number: Annotated[str, replications("3")] = "3",
    jobs: JobsOption = None,
    to: Annotated[Path | None, out("results/FILE-tuned")] = None,
    force: ForceOption = False,
    store: StoreOption = None,
) -> None:
    """Find RED thresholds that keep the average queue between them under every load.

    The output is a folder with the tuned scenario. A table and a figure in this folder show the
    share of time in which the average queue is between the thresholds. If the scenario has no
    warm-up, the first fifth of each run is excluded as the warm-up.
    """
    from contextlib import ExitStack

    from aqmlab.experiment import tuning
    from aqmlab.folder import appearing
    from aqmlab.progress import Bar
    from aqmlab.scenario import changed, normalize
    from aqmlab.store import FolderStore

    if not 0 < share <= 1:
        raise ValueError(f"--share is {share:g}; it must be above 0 and at most 1")
    overrides = read_overrides(changes, seed)
    scenario = changed(file, overrides)
    every = read_loads(json.loads(normalize(scenario)), loads, flow, load or [])
    bounds = read_bounds(minth)
    count, threads = read_count("--replications", number) or 1, read_count("--jobs", jobs)
    folder = to or Path("results") / f"{file.stem}-tuned"
    with ExitStack() as stack:
        runs = stack.enter_context(FolderStore(store)) if store else None
        if runs:
            stack.enter_context(resumable(runs))
        new = stack.enter_context(appearing(folder, MADE_BY, force=force))
        with Bar() as bar:
            done = tuning.tune(
                scenario, every, link=link, minth=bounds, ratio=ratio, warm_up=warm_up,
                replications=count, jobs=threads, store=runs, progress=bar,
            )  # fmt: skip
        show(done)
        best, queue = done.best, done.queue
        if best.score < share:
            raise ValueError(
                f"no minth from {done.pairs[0].minth:g} to {done.pairs[-1].minth:g} {queue.unit} "
                f"keeps the average queue between the thresholds for {100 * share:g} % of the time "
                f"under every load; the best pair, minth {best.minth:g} and maxth {best.maxth:g}, "
                f"reaches {100 * best.score:.1f} % under the load {best.worst!r}; extend --minth, "
                "change --ratio or maxp, or reduce --share"
            )
        write(done, scenario, new / f"{file.stem}{_suffix(file)}")
    print_text(f"Written to {folder}: {file.stem}{_suffix(file)} has {_best(done)}.")


def read_loads(
    scenario: dict[str, Any], counts: str | None, flow: str | None, described: list[str]
) -> dict[str, list[tuple[str, str]]]:
    """Return the keys and values that each load changes in the scenario, by name of the load.

    Raises
    ------
    ValueError
        If a load is wrong, or if several flow tables match ``--loads``.
    """
    every: dict[str, list[tuple[str, str]]] = {}
    if flow and not counts:
        raise ValueError(
            "--flow needs --loads, which sets the number of flows of the table that --flow names; "
            "add --loads"
        )
    if counts:
        at = _counted(scenario, flow)
        for text in counts.split(","):
            n = read_count("--loads", text.strip())
            every[f"{n} flow{'s' * (n != 1)}"] = [(f"flows.{at}.count", str(n))]
    for text in described:
        parts = [part.strip() for part in text.split(";") if part.strip()]
        example = "'flows.0.count=9; tcp.ecn=rfc3168'"
        every["; ".join(parts)] = [read_change(part, example, "--load") for part in parts]
    return every or {"as it is": []}


def _counted(scenario: dict[str, Any], flow: str | None) -> int:
    """Return the index of the flow table whose number of flows ``--loads`` changes."""
    flows = scenario["flows"]
    names = [one["name"] for one in flows]
    if flow is not None:
        if names.count(flow) != 1:
            raise ValueError(f"--flow is {flow!r}; it must be one of {', '.join(names)}")
        return names.index(flow)
    endless = [
        i for i, one in enumerate(flows)
        if one["traffic"]["kind"] == "bulk" and one["traffic"].get("size") is None
    ]  # fmt: skip
    if len(flows) == 1 or len(endless) == 1:
        return endless[0] if len(endless) == 1 else 0
    raise ValueError(
        "--loads is ambiguous, because the scenario has several [[flows]] tables; select one with "
        f"--flow: {', '.join(names)}"
    )


def read_bounds(text: str | None) -> tuple[float, float] | None:
    """Parse the value of ``--minth``, LOW:HIGH; return None if the option is absent."""
    if text is None:
        return None
    low, colon, high = text.partition(":")
    try:
        bounds = float(low), float(high)
    except ValueError:
        colon = ""
    if not colon or not 1 <= bounds[0] <= bounds[1] <= 1e9:
        raise ValueError(
            f"--minth is {text!r}; it must be LOW:HIGH with two numbers from 1 to 1e9, for example "
            "3:40"
        )
    return bounds


def show(tuning: "Tuning") -> None:
    """Print the shares of time below, between and above each pair of thresholds, for each load."""
    from rich.table import Table

    best, unit = tuning.best, tuning.queue.unit
    table = Table(title=f"Average queue of {tuning.queue.link}, % of the time")
    for head in (f"minth ({unit})", "maxth"):
        table.add_column(head, justify="right")
    table.add_column("load")
    for head in ("below minth", "between", "above maxth"):
        table.add_column(head, justify="right")
    for one in tuning.pairs:
        for i, (load, share) in enumerate(one.shares.items()):
            mark = " *" if one is best and not i else ""
            pair = ("", "") if i else (f"{one.minth:g}{mark}", f"{one.maxth:g}")
            shares = (f"{100 * part:.1f}" for part in (share.below, share.inside, share.above))
            table.add_row(*pair, load, *shares, end_section=i == len(one.shares) - 1)
    console().print(table)
    print_text(
        f"* The best pair is {_best(tuning)}. The average queue is between the thresholds for "
        f"{100 * best.score:.1f} % of the time under the worst load, {best.worst!r}."
    )
    others = ", ".join(f"{one.minth:g}" for one in tuning.tied if one is not best)
    if others:
        print_text(
            f"Tied with the best pair: minth {others}. The difference between the shares is below "
            "1 %, or its 95 % interval contains 0."
        )


def _best(tuning: "Tuning") -> str:
    """Return the keys of the two thresholds with their values in the best pair, as text."""
    queue, best = tuning.queue, tuning.best
    pairs = zip(queue.keys, (best.minth, best.maxth), strict=True)
    return " and ".join(f"{key} = {value:g} {queue.unit}" for key, value in pairs)


def _suffix(file: Path) -> str:
    """Return the file name suffix of the tuned scenario."""
    return ".json" if file.suffix.lower() == ".json" else ".toml"


def write(tuning: "Tuning", scenario: dict[str, Any], file: Path) -> None:
    """Write the tuned scenario, and in the same folder a table and a figure of the shares."""
    from aqmlab.figures import save_all
    from aqmlab.figures.tuning import threshold_pairs
    from aqmlab.scenario import changed, toml_document

    best, queue = tuning.best, tuning.queue
    tuned = changed(scenario, queue.overrides(best.minth, best.maxth))
    text = json.dumps(tuned, indent=2, ensure_ascii=False) + "\n"
    file.write_text(text if file.suffix == ".json" else toml_document(tuned), "utf-8")
    tuning.frame().to_csv(file.with_name("shares.csv"), index=False)
    figure = threshold_pairs(tuning.pairs, best, queue.unit)
    save_all(figure, file.with_name("shares"), scenario.get("title") or "")
