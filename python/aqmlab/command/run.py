"""`aqmlab run`: a scenario, once."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.command.options import (
    EngineOption,
    WarningsOption,
    read_change,
    read_count,
    read_engine,
)
from aqmlab.command.terminal import console, say, warn

if TYPE_CHECKING:
    from aqmlab.engine import Engine


def run_command(
    file: Annotated[Path, typer.Argument(help="A scenario, TOML or JSON.", metavar="FILE")],
    seed: Annotated[
        str | None, typer.Option(help="Seed of every random stream.", metavar="N")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder to make for manifest and tables.", metavar="DIR")
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a key, e.g. network.queue.limit='64 packets'; may be given again.",
        ),
    ] = None,
    pcap: Annotated[
        Path | None, typer.Option(help="Folder to make for captures, in pcapng.", metavar="DIR")
    ] = None,
    pcap_on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Capture this link (from>to) or host; may be given again."
        ),
    ] = None,
    replications: Annotated[
        str | None,
        typer.Option(help="Run it so often, seed by seed, and show means.", metavar="N"),
    ] = None,
    limits: Annotated[
        list[str] | None,
        typer.Option(
            "--limit",
            metavar="NAME=VALUE",
            help="End it as failed if it takes more: events=N, wall='10 s', memory='500 MB'; may "
            "be given again.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an earlier run in the folder.")
    ] = False,
    warnings: WarningsOption = True,
    engine: EngineOption = None,
) -> None:
    """Run a scenario and show its flows and links. Files are written with --out and --pcap."""
    import json

    from aqmlab._core import ScenarioError
    from aqmlab.experiment import run
    from aqmlab.progress import Bar
    from aqmlab.results import new_folders
    from aqmlab.scenario import normalize, toml_value
    from aqmlab.summary import show

    overrides = [read_change(change) for change in changes or []]
    overrides += [("seed", seed)] if seed is not None else []
    overrides += [("record.pcap.on", toml_value(pcap_on))] if pcap_on else []
    scenario = json.loads(normalize(file, overrides=overrides))
    most = dict(read_change(limit, "wall='10 s'", "--limit") for limit in limits or [])
    within = {name: int(text) if text.isdecimal() else text for name, text in most.items()}
    count, by = read_count("--replications", replications), read_engine(engine)
    if count:
        if out or pcap or pcap_on:
            raise ValueError(
                "--replications shows what many runs measure and keeps none; leave --out and "
                "--pcap out, or keep runs with aqmlab sweep"
            )
        _replicate(scenario, count, within, by, warnings=warnings)
        return
    if pcap and not scenario["record"]["pcap"]["on"]:
        raise ValueError(
            "--pcap needs to know where: name links and hosts, e.g. --pcap-on 'left>right'"
        )
    if pcap_on and not pcap:
        raise ValueError("--pcap-on needs a folder for the captures: --pcap DIR")
    with new_folders(out, pcap, force=force) as (folder, captures):
        with Bar() as bar:
            try:
                result = run(scenario, pcap=captures, limits=within, progress=bar, engine=by)
            except ScenarioError as e:
                raise ScenarioError(f"{file}: {e}") from None
        if folder:
            result.write_files(folder)
    show(result, console())
    warn(result.warnings if warnings else [])
    say(f"Written to {out}" if out else "Nothing is written without --out DIR.")
    if pcap:
        say(f"Captures written to {pcap}")
    elif scenario["record"]["pcap"]["on"]:
        say("Captures are written only with --pcap DIR.")


def _replicate(
    scenario: dict[str, Any],
    count: int,
    limits: dict[str, Any],
    engine: "Engine | None",
    *,
    warnings: bool,
) -> None:
    """Run a scenario several times and show its measures with their intervals."""
    from aqmlab.command.results import show_measures
    from aqmlab.experiment import Experiment, Replications, conduct
    from aqmlab.progress import Count

    title = scenario["title"] or "Untitled scenario"
    replications = Replications(count)
    wanted = Experiment(scenario=scenario, title=title, replications=replications, limits=limits)
    with Count() as progress:
        outcome = conduct(wanted, engine=engine, told=progress)
    show_measures(outcome, console())
    warn([*outcome.warnings, *outcome.cautions] if warnings else [])
