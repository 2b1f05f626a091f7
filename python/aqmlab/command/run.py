"""`aqmlab run`: one run of a scenario, or several runs with different seeds."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.command import completion
from aqmlab.command.options import (
    EngineOption,
    ForceOption,
    JobsOption,
    SeedOption,
    SetOption,
    StoreOption,
    WarmUpOption,
    WarningsOption,
    out,
    read_change,
    read_count,
    read_engine,
    read_overrides,
    replications,
)
from aqmlab.command.terminal import console, print_text, print_warnings, resumable

if TYPE_CHECKING:
    from aqmlab.engine import Engine
    from aqmlab.experiment import Experiment
    from aqmlab.results import Result
    from aqmlab.store import FolderStore

EXAMPLES = (
    "aqmlab run examples/two_flows.toml --set tcp.ecn=rfc3168 --out results/two_flows",
    "aqmlab run dsl --seed 5 --replications 3",
)


def run_command(
    file: Annotated[
        Path,
        typer.Argument(
            help="A scenario: a file in TOML or JSON, or a name from `aqmlab list scenarios`.",
            metavar="FILE",
            autocompletion=completion.scenarios,
        ),
    ],
    seed: SeedOption = None,
    to: Annotated[Path | None, out("nothing is written")] = None,
    changes: SetOption = None,
    number: Annotated[str | None, replications("1")] = None,
    jobs: JobsOption = None,
    store: StoreOption = None,
    warm_up: WarmUpOption = None,
    pcap: Annotated[
        Path | None,
        typer.Option(
            help="Folder for packet captures in the pcapng format.",
            metavar="DIR",
            show_default="no captures",
        ),
    ] = None,
    pcap_on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Name of the link (FROM>TO) or host whose packets are captured. Repeat --pcap-on "
            "for several links or hosts.",
            show_default="record.pcap.on of the scenario",
        ),
    ] = None,
    limits: Annotated[
        list[str] | None,
        typer.Option(
            "--limit",
            metavar="NAME=VALUE",
            help="Stop a run with an error if the run exceeds this number of events, wall-clock "
            "time or memory: events=N, wall='10 s' or memory='500 MB'. Repeat --limit for several "
            "limits.",
            show_default="no limit",
        ),
    ] = None,
    force: ForceOption = False,
    warnings: WarningsOption = True,
    engine: EngineOption = None,
) -> None:
    """Run a scenario and show the results of its flows and links.

    With --out, the command writes a folder with the manifest of the run and every table as CSV and
    Parquet. With --replications above 1, the command shows the mean of each measure with its 95 %
    interval.
    """
    import json

    from aqmlab._core import ScenarioError
    from aqmlab.progress import Bar
    from aqmlab.results import new_folders
    from aqmlab.scenario import normalize, toml_value
    from aqmlab.store import FolderStore
    from aqmlab.summary import show

    overrides = read_overrides(changes, seed, warm_up)
    overrides += [("record.pcap.on", toml_value(pcap_on))] if pcap_on else []
    scenario = json.loads(normalize(file, overrides=overrides))
    bounds = dict(read_change(limit, "wall='10 s'", "--limit") for limit in limits or [])
    limited = {name: int(text) if text.isdecimal() else text for name, text in bounds.items()}
    count, threads = read_count("--replications", number) or 1, read_count("--jobs", jobs)
    by = read_engine(engine)
    if store and pcap:
        raise ValueError(
            "--store and --pcap exclude each other, because a store has no packet captures; leave "
            "out one of these options"
        )
    with ExitStack() as stack:
        runs = stack.enter_context(FolderStore(store)) if store else None
        if runs:
            stack.enter_context(resumable(runs))
        if count > 1:
            if to or pcap or pcap_on:
                raise ValueError(
                    "--replications excludes --out and --pcap, because it shows only the means of "
                    "the runs; leave out --out and --pcap, or write all runs with --store or with "
                    "aqmlab sweep"
                )
            experiment = _experiment(scenario, count, limited)
            _replicate(experiment, threads, by, runs, warnings=warnings)
            return
        if pcap and not scenario["record"]["pcap"]["on"]:
            raise ValueError(
                "--pcap needs --pcap-on with the name of a link or host, for example --pcap-on "
                "'left>right'"
            )
        if pcap_on and not pcap:
            raise ValueError("--pcap-on needs --pcap DIR, the folder for the captures")
        with new_folders(to, pcap, force=force) as (folder, captures):
            with Bar() as bar:
                try:
                    result = _run(scenario, captures, limited, by, runs, bar)
                except ScenarioError as e:
                    raise ScenarioError(f"{file}: {e}") from None
            if folder:
                result.write_files(folder)
    show(result, console())
    print_warnings(result.warnings if warnings else [])
    print_text(
        f"Written to {to}" if to else "No files were written; add --out DIR to write the tables."
    )
    if pcap:
        print_text(f"Captures written to {pcap}")
    elif scenario["record"]["pcap"]["on"]:
        print_text("No packet captures were written; add --pcap DIR to write them.")


def _run(
    scenario: dict[str, Any],
    captures: Path | None,
    limits: dict[str, Any],
    engine: "Engine | None",
    store: "FolderStore | None",
    bar: Any,
) -> "Result":
    """Return the result of a scenario: from the store if the store has it, else from a new run."""
    from aqmlab.engine import Simulator, within_limits
    from aqmlab.experiment.runs import run_many, run_quietly

    if store is None:
        return run_quietly(scenario, pcap=captures, limits=limits, progress=bar, engine=engine)
    limited = within_limits(engine or Simulator(), limits)
    return run_many([scenario], 1, bar, engine=limited, store=store)[0]


def _experiment(scenario: dict[str, Any], count: int, limits: dict[str, Any]) -> "Experiment":
    """Return an experiment that runs one scenario with `count` different seeds."""
    from aqmlab.experiment import Experiment, Replications

    return Experiment(
        scenario=scenario,
        title=scenario["title"] or "Untitled scenario",
        replications=Replications(count),
        limits=limits,
    )


def _replicate(
    experiment: "Experiment",
    jobs: int | None,
    engine: "Engine | None",
    store: "FolderStore | None",
    *,
    warnings: bool,
) -> None:
    """Run the replications and print the mean of each measure with its interval."""
    from aqmlab.command.results import show_measures
    from aqmlab.experiment import conduct
    from aqmlab.progress import Count

    with Count() as progress:
        outcome = conduct(experiment, jobs=jobs, engine=engine, store=store, progress=progress)
    show_measures(outcome, console())
    print_warnings([*outcome.warnings, *outcome.cautions] if warnings else [])
