"""`aqmlab reproduce`: reproduction of a published study."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.command import completion
from aqmlab.command.options import (
    EngineOption,
    ForceOption,
    JobsOption,
    SeedOption,
    SetOption,
    StoreOption,
    out,
    read_count,
    read_engine,
    read_overrides,
    read_seed,
    replications,
)
from aqmlab.command.terminal import console, print_text, resumable

if TYPE_CHECKING:
    from aqmlab.engine import Engine
    from aqmlab.store import FolderStore
    from aqmlab.studies.framework.study import Study

ASSUMPTION = "tcp.rto.min='1 s'"
EXAMPLES = (
    "aqmlab reproduce ecn-finite-transfers --only table-2 --replications 2",
    "aqmlab reproduce ecn-finite-transfers --claim EF-005 --replications 6 --falsify",
)


def reproduce_command(
    study: Annotated[
        str | None,
        typer.Argument(
            help="Name of the study to reproduce. `aqmlab list studies` lists all names.",
            metavar="STUDY",
            autocompletion=completion.studies,
        ),
    ] = None,
    items: Annotated[list[str] | None, typer.Argument(hidden=True, metavar="ITEM")] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Table or figure of the study to reproduce, e.g. table-2. Several names "
            "of tables and figures may follow one --only, e.g. --only table-2 figure-4.",
            metavar="ITEM",
            show_default="all",
        ),
    ] = None,
    claim: Annotated[
        str | None,
        typer.Option(
            help="Number of one claim of the study, e.g. EF-045. The command executes only the "
            "runs that decide this claim, prints the verdict, and writes no file.",
            metavar="ID",
        ),
    ] = None,
    every: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Reproduce all studies. The output has one folder per study, and one page that "
            "summarizes them.",
        ),
    ] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Run only a part of the study, with two or three replications, which takes at "
            "most one minute of processor time. The command first prints this part and its "
            "expected time. A quick run gives no verdicts on claims, except for the study "
            "power-of-ecn. The study ecn-finite-transfers does not support --quick, because the "
            "whole study takes only about one minute.",
        ),
    ] = False,
    falsify: Annotated[
        bool,
        typer.Option(
            "--falsify",
            help="Also decide the claims under each alternative assumption that the study "
            "declares, one at a time, and show the verdicts that change. Each --set is then one "
            "more alternative. Without --only, the runs take several times as long as the study. "
            "With --all, the page that summarizes the studies has a table per study with the "
            "verdicts that change.",
        ),
    ] = False,
    changes: SetOption = None,
    first_seed: SeedOption = None,
    number: Annotated[str | None, replications("those of the study")] = None,
    jobs: JobsOption = None,
    to: Annotated[Path | None, out("results/STUDY, or results/all with --all")] = None,
    force: ForceOption = False,
    store: StoreOption = None,
    engine: EngineOption = None,
) -> None:
    """Simulate a published study, and compare its published numbers and claims with the results.

    The output is a folder with an HTML report, figures and tables. --set changes a key in all
    scenarios of the study that have the key, and --seed changes the seeds of all runs. The report
    states these changes.
    """
    from aqmlab import studies
    from aqmlab.store import FolderStore

    by, seed = read_engine(engine), read_seed(first_seed)
    if every:
        excluded = {"STUDY": study, "--only": only, "--replications": number,
                    "--set": changes, "--claim": claim}  # fmt: skip
        if present := [name for name, value in excluded.items() if value]:
            raise ValueError(
                f"--all excludes options that select or change a study; leave out {present[0]}"
            )
        _every(
            to, read_count("--jobs", jobs), store, by, quick=quick, seed=seed, falsify=falsify,
            force=force,
        )  # fmt: skip
        return
    if study is None:
        known = ", ".join(studies.names())
        raise ValueError(f"STUDY is missing; give --all or the name of a study: {known}")
    chosen = studies.load(study)
    if items and not only:
        raise ValueError(
            f"{items[0]!r} is not expected after the name of the study; give tables and figures "
            "after --only"
        )
    chosen_items = [*(only or []), *(items or [])]
    runs, threads = read_count("--replications", number), read_count("--jobs", jobs)
    changed = read_overrides(changes, example=ASSUMPTION)
    if claim and (chosen_items or to or quick):
        raise ValueError(
            "--claim excludes --only, --out and --quick, because it decides a single claim and "
            "writes no file; leave out these options"
        )
    with ExitStack() as stack:
        finished = stack.enter_context(FolderStore(store)) if store else None
        if finished:
            stack.enter_context(resumable(finished))
        if claim:
            _decide(chosen, claim, runs, threads, by, finished, changed, seed, falsify=falsify)
            return
        print_text(str(chosen.reproduce(
            chosen_items, runs, threads, to, console(), engine=by, store=finished, changes=changed,
            quick=quick, seed=seed, falsify=falsify, force=force,
        )))  # fmt: skip


def _every(
    to: Path | None,
    jobs: int | None,
    store: Path | None,
    engine: "Engine | None",
    *,
    quick: bool,
    seed: int | None,
    falsify: bool,
    force: bool,
) -> None:
    """Reproduce all studies."""
    from aqmlab.store import FolderStore
    from aqmlab.studies.framework.every import reproduce_all

    with ExitStack() as stack:
        finished = stack.enter_context(FolderStore(store)) if store else None
        if finished:
            stack.enter_context(resumable(finished))
        print_text(str(reproduce_all(
            to, jobs, console(), engine=engine, store=finished, quick=quick, seed=seed,
            falsify=falsify, force=force,
        )))  # fmt: skip


def _decide(
    study: "Study",
    claim: str,
    replications: int | None,
    jobs: int | None,
    engine: "Engine | None",
    store: "FolderStore | None",
    changes: list[tuple[str, str]],
    seed: int | None,
    *,
    falsify: bool,
) -> None:
    """Print the verdict on a claim, and the measured numbers behind the verdict."""
    from aqmlab.studies.framework import falsification
    from aqmlab.studies.framework.verdicts import called

    alternatives = changes if falsify else []
    changes = [] if falsify else changes
    printed, decision, runs = study.decide(
        claim, replications, jobs, engine=engine, store=store, changes=changes, seed=seed
    )
    print_text(f"{printed.id}: {printed.statement} ({printed.scenario}; {printed.source})")
    print_text(f"printed {printed.printed}, measured {decision.ours or 'nothing'}")
    verdict = called(decision.verdict, changed=bool(changes))
    print_text(f"{verdict}: {decision.evidence}")
    if not printed.counted:
        print_text(f"not counted, {printed.basis}: {printed.reason}")
    changed = "".join(f"; {key} = {value}" for key, value in changes)
    changed += "" if seed is None else f"; first seed {seed}"
    print_text(f"{runs.distinct()} runs, {runs.replications} replications{changed}.")
    if falsify:
        items = study.choose(study.claims.functions[claim][0])
        of = falsification.falsify(study, runs, items, [(printed, decision)], alternatives, jobs)
        for number, trial in enumerate(of.trials, 1):
            now = trial.decisions.get(claim)
            result = f"{now.verdict}, measured {now.ours or 'nothing'}" if now else "the same runs"
            print_text(f"A{number} {trial.alternative.about}: {result}")
        if of.trials:
            print_text(f"{claim} is {of.sensitivity(printed, decision)}.")
