"""`aqmlab responses`: response times of requests, by size of the response."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.command import completion
from aqmlab.command.options import (
    EngineOption,
    JobsOption,
    PlotOption,
    SeedOption,
    SetOption,
    StoreOption,
    WarmUpOption,
    read_count,
    read_engine,
    read_overrides,
    replications,
)
from aqmlab.command.terminal import console, print_text, resumable

if TYPE_CHECKING:
    from aqmlab.measures.responses import Responses

KINDS = ("ping", "request_response", "requests", "web")
"""Kinds of traffic in which clients send requests."""
SHARES = (0.5, 0.95, 0.99)
EXAMPLES = (
    "aqmlab responses examples/web_users.toml --set duration='20 s' --plot responses.png",
    "aqmlab responses examples/web_users.toml results/run --warm-up '10 s'",
)


def responses_command(
    sources: Annotated[
        list[Path],
        typer.Argument(
            help="Scenarios to run, or folders of finished runs that recorded the series "
            "'requests'. The output table shows every scenario and every folder.",
            metavar="RUN...",
            autocompletion=completion.scenarios,
        ),
    ],
    seed: SeedOption = None,
    changes: SetOption = None,
    warm_up: WarmUpOption = None,
    number: Annotated[str, replications("1")] = "1",
    jobs: JobsOption = None,
    store: StoreOption = None,
    engine: EngineOption = None,
    plot: PlotOption = None,
) -> None:
    """Show the response times of requests, by size of the response.

    A response time begins with the first SYN of the connection, or with the request on an open
    connection. A response time ends with the last byte of the response. If there is a warm-up,
    requests that begin during the warm-up are excluded.
    """
    from contextlib import ExitStack

    from aqmlab import figures
    from aqmlab.figures.responses import responses
    from aqmlab.store import FolderStore

    if plot:
        figures.check_image(plot, "--plot")
    count = read_count("--replications", number) or 1
    overrides = read_overrides(changes, seed, warm_up)
    with ExitStack() as stack:
        runs = stack.enter_context(FolderStore(store)) if store else None
        if runs:
            stack.enter_context(resumable(runs))
        options = {"jobs": read_count("--jobs", jobs), "store": runs, "engine": read_engine(engine)}
        schemes = _schemes(sources, overrides, count, options)
    show(schemes)
    if plot:
        origin = f"{', '.join(schemes)}; {count} replications"
        print_text(f"Written to {figures.save(responses(schemes), plot, origin)}")


def _schemes(
    sources: list[Path],
    overrides: list[tuple[str, str]],
    count: int,
    options: dict[str, Any],
) -> "dict[str, list[Responses]]":
    """Return the responses by name of the source; `options` are passed to the campaign of runs."""
    from aqmlab.engine import Simulator
    from aqmlab.experiment import campaign, in_order
    from aqmlab.measures.responses import Responses
    from aqmlab.progress import Bar
    from aqmlab.results import Result
    from aqmlab.scenario import normalize, with_seed

    schemes: dict[str, list[Responses]] = {}
    requests: list[tuple[str]] = []
    names: list[str] = []
    for source in sources:
        name = (
            source.stem if source.stem not in names and source.stem not in schemes else str(source)
        )
        if source.is_dir():
            if overrides or count > 1:
                raise ValueError(
                    f"{source} is a finished run, which cannot be changed; leave out --set, "
                    "--seed, --warm-up and --replications, or give the scenario instead of the run"
                )
            run = Result.read(source)
            _check_traffic(source, run.scenario)
            schemes[name] = [Responses.of(run)]
            continue
        whole = json.loads(normalize(source, overrides=overrides))
        _check_traffic(source, whole)
        whole["record"]["series"] = list(dict.fromkeys([*whole["record"]["series"], "requests"]))
        text = normalize(whole)
        requests += [(with_seed(text, whole["seed"] + k),) for k in range(count)]
        names += [name] * count
    options = options | {"engine": options["engine"] or Simulator()}
    if requests:
        with Bar() as bar:
            done = in_order(campaign(requests, Responses.of, progress=bar, **options))
        for name, one in zip(names, done, strict=True):
            schemes.setdefault(name, []).append(one)
    return schemes


def _check_traffic(source: Path, scenario: dict[str, Any]) -> None:
    """Raise ValueError if no flow of a scenario sends requests."""
    kinds = {flow["traffic"]["kind"] for flow in scenario["flows"]}
    if kinds.isdisjoint(KINDS):
        raise ValueError(
            f"{source}: the traffic has no requests, because its kind is "
            f"{', '.join(sorted(kinds))}; give a scenario with traffic of the kind "
            f"{', '.join(KINDS[:-1])} or {KINDS[-1]}"
        )


def show(schemes: "dict[str, list[Responses]]") -> None:
    """Print a table with one row per source and class of response sizes, over all replications."""
    import numpy as np
    from rich.table import Table

    from aqmlab.measures import SIZE_CLASSES
    from aqmlab.measures.responses import Responses

    empty = [name for name, several in schemes.items() if not any(map(len, several))]
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
        columns = ("times", "ended", "sizes", "handshakes", "timeouts")
        every = Responses(*(np.concatenate([getattr(r, key) for r in several]) for key in columns))
        for k, (_, label, sizes) in enumerate((("", "all", (-1.0, np.inf)), *SIZE_CLASSES)):
            one = every.of_sizes(*sizes)
            if not len(one):
                continue
            quantiles = (_shown(*one.quantile(share)) for share in SHARES)
            done = one.times[one.ended]
            mean = f"{done.mean():.3f}" if len(done) else "–"
            timeouts = (f"{n:.0f}" for n in one.timeouts.sum(axis=0))
            table.add_row(
                name if not k else "", label, str(len(one)), str(int((~one.ended).sum())), mean,
                *quantiles, f"{100 * one.slow_handshakes(1.0):.2f}", *timeouts,
                end_section=k == len(SIZE_CLASSES),
            )  # fmt: skip
    if len(empty) < len(schemes):
        console().print(table)
    for name in empty:
        print_text(f"{name} has no row in the table, because no request began after the warm-up.")
    print_text(
        "Mean response times exclude unfinished requests. Medians and other quantiles include "
        "unfinished requests (Kaplan–Meier)."
    )


def _shown(time_s: float, known: bool) -> str:
    """Format a time in s; a lower bound is preceded by ">"."""
    return f"{time_s:.3f}" if known else f"> {time_s:.3f}"
