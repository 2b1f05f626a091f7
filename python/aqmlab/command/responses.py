"""`aqmlab responses`: response times of requests, by size, of one scheme or of several."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.command.options import StoreOption, read_change, read_count, read_warm_up
from aqmlab.command.terminal import console, resumable, say

if TYPE_CHECKING:
    from aqmlab.measures.responses import Responses

SHARES = (0.5, 0.95, 0.99)


def responses_command(
    sources: Annotated[
        list[Path],
        typer.Argument(
            help="Folders of runs that recorded `requests`, or scenarios to run.", metavar="RUN…"
        ),
    ],
    warm_up: Annotated[
        str | None,
        typer.Option(help="Leave out what was asked before, e.g. '20 s'; default: nothing."),
    ] = None,
    replications: Annotated[
        str, typer.Option(help="Runs of each scenario, each with its seed.", metavar="N")
    ] = "1",
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the scenarios."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw them into this file (.png, .svg, .pdf).", metavar="FILE"),
    ] = None,
    jobs: Annotated[
        str | None, typer.Option(help="Runs at a time; default: the cores.", metavar="N")
    ] = None,
    store: StoreOption = None,
) -> None:
    """Tell how long requests took from the first SYN to the last byte, by size; draw them."""
    from contextlib import ExitStack

    from aqmlab import figures
    from aqmlab.figures.responses import responses
    from aqmlab.store import FolderStore

    if plot:
        if plot.suffix.lower() not in figures.FORMATS:
            raise ValueError(f"--plot {plot} must end in one of {', '.join(figures.FORMATS)}")
        figures.refuse_foreign(plot)
    warm_up_s, count = read_warm_up(warm_up) or 0.0, read_count("--replications", replications) or 1
    overrides = [read_change(change) for change in changes or []]
    with ExitStack() as stack:
        kept = stack.enter_context(FolderStore(store)) if store else None
        if kept:
            stack.enter_context(resumable(kept))
        how = {"jobs": read_count("--jobs", jobs), "store": kept}
        schemes = _schemes(sources, overrides, count, warm_up_s, how)
    show(schemes)
    if plot:
        say(f"Written to {figures.save(responses(schemes), plot)}")


def _schemes(
    sources: list[Path],
    overrides: list[tuple[str, str]],
    count: int,
    warm_up_s: float,
    how: dict[str, Any],
) -> "dict[str, list[Responses]]":
    """Return the responses of each source, by its name."""
    from aqmlab.engine import Simulator
    from aqmlab.experiment import campaign, in_order
    from aqmlab.measures.responses import Responses
    from aqmlab.progress import Bar
    from aqmlab.results import Result
    from aqmlab.scenario import normalize, with_seed

    found: dict[str, list[Responses]] = {}
    asks: list[tuple[str]] = []
    names: list[str] = []
    for source in sources:
        name = source.stem if source.stem not in names and source.stem not in found else str(source)
        if source.is_dir():
            if overrides or count > 1:
                raise ValueError(
                    f"{source}: is a run that is over; --set and --replications are for scenarios"
                )
            found[name] = [Responses.of(Result.read(source), warm_up_s)]
            continue
        whole = json.loads(normalize(source, overrides=overrides))
        whole["record"]["series"] = list(dict.fromkeys([*whole["record"]["series"], "requests"]))
        text = normalize(whole)
        asks += [(with_seed(text, whole["seed"] + k),) for k in range(count)]
        names += [name] * count
    if asks:

        def reduce(result: Result) -> Responses:
            return Responses.of(result, warm_up_s)

        with Bar() as bar:
            ran = in_order(campaign(asks, reduce, engine=Simulator(), progress=bar, **how))
        for name, one in zip(names, ran, strict=True):
            found.setdefault(name, []).append(one)
    return found


def show(schemes: "dict[str, list[Responses]]") -> None:
    """Print a row a scheme and class of sizes, the requests of all replications together."""
    import numpy as np
    from rich.table import Table

    from aqmlab.measures.responses import CLASSES, Responses

    table = Table(title="Response times, from the first SYN to the last byte")
    for head in ("", "response"):
        table.add_column(head, no_wrap=True)
    heads = (
        "requests",
        "unfinished",
        "mean s",
        "median s",
        "95 % s",
        "99 % s",
        "handshake > 1 s %",
    )
    for head in (*heads, "timeouts, client", "server"):
        table.add_column(head, justify="right")
    for name, several in schemes.items():
        columns = ("times", "ended", "sizes", "handshakes", "timers")
        every = Responses(*(np.concatenate([getattr(r, key) for r in several]) for key in columns))
        for k, (label, above, most) in enumerate((("all", -1.0, np.inf), *CLASSES)):
            one = every.of_sizes(above, most)
            if not len(one):
                continue
            quantiles = (_told(*one.quantile(share)) for share in SHARES)
            done = one.times[one.ended]
            mean = f"{done.mean():.3f}" if len(done) else "–"
            timers = (f"{n:.0f}" for n in one.timers.sum(axis=0))
            table.add_row(
                name if not k else "", label, str(len(one)), str(int((~one.ended).sum())), mean,
                *quantiles, f"{100 * one.waited(1.0):.2f}", *timers, end_section=k == len(CLASSES),
            )  # fmt: skip
    console().print(table)
    say("Means are of what has its response; quantiles count what has not (Kaplan–Meier).")


def _told(time_s: float, known: bool) -> str:
    return f"{time_s:.3f}" if known else f"> {time_s:.3f}"
