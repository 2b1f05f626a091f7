"""`aqmlab reproduce`: a published study."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.command.options import (
    EngineOption,
    ForceOption,
    JobsOption,
    SetOption,
    StoreOption,
    out,
    read_count,
    read_engine,
    read_overrides,
    replications,
)
from aqmlab.command.terminal import console, resumable, say

if TYPE_CHECKING:
    from aqmlab.engine import Engine
    from aqmlab.store import FolderStore
    from aqmlab.studies.framework.study import Study

ASSUMPTION = "tcp.rto.min='1 s'"
EXAMPLES = (
    "aqmlab reproduce ecn-finite-transfers --only table-2 --replications 2",
    "aqmlab reproduce rfc2884 --quick",
)


def reproduce_command(
    study: Annotated[
        str | None,
        typer.Argument(help="A study, as `aqmlab list studies` names it.", metavar="STUDY"),
    ] = None,
    items: Annotated[list[str] | None, typer.Argument(hidden=True, metavar="ITEM")] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Reproduce only these tables or figures, e.g. table-2 figure-4.",
            metavar="ITEM",
            show_default="all",
        ),
    ] = None,
    claim: Annotated[
        str | None,
        typer.Option(
            help="Decide only this claim, e.g. EF-045, with the runs that it needs. No file is "
            "written.",
            metavar="ID",
        ),
    ] = None,
    every: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Reproduce every study, each in a folder of its own, with one page about all.",
        ),
    ] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Run the quick form of the study: some of its settings, with two or three "
            "replications, in at most a minute of processor time. It leaves out the other "
            "settings, and the claims except in power-of-ecn. The command first names the settings "
            "and the time. ecn-finite-transfers, which takes a minute, has no quick form.",
        ),
    ] = False,
    changes: SetOption = None,
    number: Annotated[str | None, replications("those of the study")] = None,
    jobs: JobsOption = None,
    to: Annotated[Path | None, out("results/STUDY, or results/all with --all")] = None,
    force: ForceOption = False,
    store: StoreOption = None,
    engine: EngineOption = None,
) -> None:
    """Reproduce a published study, and compare each printed number and claim with the runs.

    The output is a folder with one HTML report, its figures and tables. --set changes an
    assumption in every scenario of the study that has the key; the report then says so.
    """
    from aqmlab import studies
    from aqmlab.store import FolderStore

    by = read_engine(engine)
    if every:
        given = {"STUDY": study, "--only": only, "--replications": number,
                 "--set": changes, "--claim": claim}  # fmt: skip
        if wrong := [name for name, value in given.items() if value]:
            raise ValueError(f"--all reproduces each study as it is; leave {wrong[0]} out")
        _every(to, read_count("--jobs", jobs), store, by, quick=quick, force=force)
        return
    if study is None:
        known = ", ".join(studies.names())
        raise ValueError(f"STUDY is missing; give one of {known}, or --all")
    chosen = studies.load(study)
    if items and not only:
        raise ValueError(
            f"{items[0]!r} is one argument too many; give tables and figures after --only"
        )
    wanted = [*(only or []), *(items or [])]
    runs, threads = read_count("--replications", number), read_count("--jobs", jobs)
    changed = read_overrides(changes, example=ASSUMPTION)
    if claim and (wanted or to or quick):
        raise ValueError(
            "--claim runs what the claim needs and writes no file; leave --only, --out and "
            "--quick out"
        )
    with ExitStack() as stack:
        finished = stack.enter_context(FolderStore(store)) if store else None
        if finished:
            stack.enter_context(resumable(finished))
        if claim:
            _decide(chosen, claim, runs, threads, by, finished, changed)
            return
        say(str(chosen.reproduce(
            wanted, runs, threads, to, console(), engine=by, store=finished, changes=changed,
            quick=quick, force=force,
        )))  # fmt: skip


def _every(
    to: Path | None,
    jobs: int | None,
    store: Path | None,
    engine: "Engine | None",
    *,
    quick: bool,
    force: bool,
) -> None:
    """Reproduce all studies."""
    from aqmlab.store import FolderStore
    from aqmlab.studies.framework.every import reproduce_all

    with ExitStack() as stack:
        finished = stack.enter_context(FolderStore(store)) if store else None
        if finished:
            stack.enter_context(resumable(finished))
        say(str(reproduce_all(
            to, jobs, console(), engine=engine, store=finished, quick=quick, force=force
        )))  # fmt: skip


def _decide(
    study: "Study",
    claim: str,
    replications: int | None,
    jobs: int | None,
    engine: "Engine | None",
    store: "FolderStore | None",
    changes: list[tuple[str, str]],
) -> None:
    """Print the verdict on a claim, and the numbers that it rests on."""
    from aqmlab.studies.framework.verdicts import called

    printed, decision, runs = study.decide(
        claim, replications, jobs, engine=engine, store=store, changes=changes
    )
    say(f"{printed.id}: {printed.statement} ({printed.scenario}; {printed.source})")
    say(f"printed {printed.printed}, ours {decision.ours or 'none'}")
    verdict = called(decision.verdict, changed=bool(changes))
    say(f"{verdict}: {decision.evidence}")
    if not printed.counted:
        say(f"not counted, {printed.basis}: {printed.reason}")
    under = "".join(f"; {key} = {value}" for key, value in changes)
    say(f"{runs.distinct()} runs, {runs.replications} replications{under}.")
