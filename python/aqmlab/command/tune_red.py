"""`aqmlab tune-red`: thresholds that keep RED's average between them."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.command.options import StoreOption, read_change, read_count, read_warm_up
from aqmlab.command.terminal import console, resumable, say

if TYPE_CHECKING:
    from aqmlab.experiment.tuning import Tuning

MADE_BY = "aqmlab tune-red"


def tune_red_command(
    file: Annotated[Path, typer.Argument(help="A scenario, TOML or JSON.", metavar="SCENARIO")],
    loads: Annotated[
        str | None,
        typer.Option(
            help="How many flows there are under each load, e.g. 2,5,10; default: as the scenario "
            "has it.",
            metavar="N,N",
        ),
    ] = None,
    flow: Annotated[
        str | None,
        typer.Option(
            help="The table of flows whose count --loads is, by its name; default: the only one "
            "of bulk data without end, or the only one.",
            metavar="NAME",
        ),
    ] = None,
    load: Annotated[
        list[str] | None,
        typer.Option(
            help="A load told by what it changes, e.g. 'flows.0.count=9; tcp.ecn=rfc3168'; given "
            "again for each, beside --loads or instead.",
            metavar="KEY=VALUE;…",
        ),
    ] = None,
    link: Annotated[
        str | None,
        typer.Option(
            help="The link whose queue is tuned; default: the only one with thresholds.",
            metavar="FROM>TO",
        ),
    ] = None,
    minth: Annotated[
        str | None,
        typer.Option(
            help="Least and greatest minth, e.g. 3:40, in the unit of the queue's thresholds; "
            "default: 2 packets or 2000 B to 64 times as much, as far as maxth fits in the buffer.",
            metavar="LOW:HIGH",
        ),
    ] = None,
    ratio: Annotated[float, typer.Option(help="maxth over minth.", metavar="X")] = 3.0,
    share: Annotated[
        float,
        typer.Option(
            help="Share of time that the average has to be between them under every load, 0 to 1.",
            metavar="X",
        ),
    ] = 0.9,
    warm_up: Annotated[
        str | None,
        typer.Option(help="Leave this time out of each run, e.g. '20 s'; default: a fifth of it."),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the scenario."),
    ] = None,
    replications: Annotated[
        str, typer.Option(help="Runs of each pair and load, each with its seed.", metavar="N")
    ] = "3",
    jobs: Annotated[
        str | None, typer.Option(help="Runs at a time; default: the cores.", metavar="N")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder to make; default results/SCENARIO-tuned.", metavar="DIR"),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an earlier tuning in the folder.")
    ] = False,
    store: StoreOption = None,
) -> None:
    """Find RED thresholds that keep the average queue between them under given loads."""
    from contextlib import ExitStack

    from aqmlab.experiment import tuning
    from aqmlab.folder import appearing
    from aqmlab.progress import Bar
    from aqmlab.scenario import changed, normalize
    from aqmlab.store import FolderStore

    if not 0 < share <= 1:
        raise ValueError(f"--share {share:g} must be above 0 and at most 1")
    overrides = [read_change(change) for change in changes or []]
    scenario = changed(file, overrides)
    every = read_loads(json.loads(normalize(scenario)), loads, flow, load or [])
    bounds, begins = read_bounds(minth), read_warm_up(warm_up)
    count, threads = read_count("--replications", replications) or 1, read_count("--jobs", jobs)
    folder = out or Path("results") / f"{file.stem}-tuned"
    with ExitStack() as stack:
        kept = stack.enter_context(FolderStore(store)) if store else None
        if kept:
            stack.enter_context(resumable(kept))
        new = stack.enter_context(appearing(folder, MADE_BY, force=force))
        with Bar() as bar:
            found = tuning.tune(
                scenario, every, link=link, minth=bounds, ratio=ratio, warm_up_s=begins,
                replications=count, jobs=threads, store=kept, progress=bar,
            )  # fmt: skip
        show(found)
        best, queue = found.best, found.queue
        if best.score < share:
            raise ValueError(
                f"no thresholds from {found.tried[0].minth:g} to {found.tried[-1].minth:g} "
                f"{queue.unit} keep the average between them for {100 * share:g} % of the time "
                f"under every load; the best, minth {best.minth:g} and maxth {best.maxth:g}, do "
                f"so for {100 * best.score:.1f} % under {best.worst}; widen --minth, change "
                "--ratio or maxp, or lower --share"
            )
        leave(found, scenario, new / f"{file.stem}{_suffix(file)}")
    say(f"Written to {folder}: {file.stem}{_suffix(file)} has {_named(found)}.")


def read_loads(
    scenario: dict[str, Any], counts: str | None, flow: str | None, told: list[str]
) -> dict[str, list[tuple[str, str]]]:
    """Return the loads by their names.

    Raises
    ------
    ValueError
        If one cannot be read, or it is not clear which flows are counted.
    """
    every: dict[str, list[tuple[str, str]]] = {}
    if flow and not counts:
        raise ValueError("--flow says whose count --loads is: give --loads too")
    if counts:
        at = _counted(scenario, flow)
        for text in counts.split(","):
            n = read_count("--loads", text.strip())
            every[f"{n} flow{'s' * (n != 1)}"] = [(f"flows.{at}.count", str(n))]
    for text in told:
        parts = [part.strip() for part in text.split(";") if part.strip()]
        example = "'flows.0.count=9; tcp.ecn=rfc3168'"
        every["; ".join(parts)] = [read_change(part, example, "--load") for part in parts]
    return every or {"as it is": []}


def _counted(scenario: dict[str, Any], flow: str | None) -> int:
    """Return the place of the flows that are counted."""
    flows = scenario["flows"]
    names = [one["name"] for one in flows]
    if flow is not None:
        if names.count(flow) != 1:
            raise ValueError(f"--flow {flow!r} is no table of flows; there are: {', '.join(names)}")
        return names.index(flow)
    endless = [
        i for i, one in enumerate(flows)
        if one["traffic"]["kind"] == "bulk" and one["traffic"].get("size") is None
    ]  # fmt: skip
    if len(flows) == 1 or len(endless) == 1:
        return endless[0] if len(endless) == 1 else 0
    raise ValueError(
        f"--loads: which flows it counts is not clear; --flow one of {', '.join(names)}"
    )


def read_bounds(text: str | None) -> tuple[float, float] | None:
    """Return what `--minth` has."""
    if text is None:
        return None
    low, colon, high = text.partition(":")
    try:
        found = float(low), float(high)
    except ValueError:
        colon = ""
    if not colon or not 1 <= found[0] <= found[1] <= 1e9:
        raise ValueError(f"--minth {text!r} must be LOW:HIGH, from 1 on, for example 3:40")
    return found


def show(found: "Tuning") -> None:
    """Print where the average was, a row a pair and load."""
    from rich.table import Table

    best, unit = found.best, found.queue.unit
    table = Table(title=f"Average queue of {found.queue.link}, % of the time")
    for head in (f"minth ({unit})", "maxth"):
        table.add_column(head, justify="right")
    table.add_column("load")
    for head in ("below", "between", "above"):
        table.add_column(head, justify="right")
    for one in found.tried:
        for i, (load, of) in enumerate(one.shares.items()):
            mark = " *" if one is best and not i else ""
            pair = ("", "") if i else (f"{one.minth:g}{mark}", f"{one.maxth:g}")
            shares = (f"{100 * part:.1f}" for part in (of.below, of.inside, of.above))
            table.add_row(*pair, load, *shares, end_section=i == len(one.shares) - 1)
    console().print(table)
    worst = f"{100 * best.score:.1f} % of the time under {best.worst}, the worst load"
    say(f"* {_named(found)}: between them for {worst}.")


def _named(found: "Tuning") -> str:
    queue, best = found.queue, found.best
    pairs = zip(queue.keys, (best.minth, best.maxth), strict=True)
    return " and ".join(f"{key} = {value:g} {queue.unit}" for key, value in pairs)


def _suffix(file: Path) -> str:
    return ".json" if file.suffix.lower() == ".json" else ".toml"


def leave(found: "Tuning", scenario: dict[str, Any], file: Path) -> None:
    """Write the tuned scenario, and beside it the shares and their figure."""
    from aqmlab.figures import save
    from aqmlab.figures.tuning import tried
    from aqmlab.scenario import changed, toml_document

    best, queue = found.best, found.queue
    tuned = changed(scenario, queue.overrides(best.minth, best.maxth))
    said = json.dumps(tuned, indent=2, ensure_ascii=False) + "\n"
    file.write_text(said if file.suffix == ".json" else toml_document(tuned), "utf-8")
    found.frame().to_csv(file.with_name("shares.csv"), index=False)
    figure = tried(found.tried, best, queue.unit)
    for suffix in ("png", "svg"):
        save(figure, file.with_name(f"shares.{suffix}"))
