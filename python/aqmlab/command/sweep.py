"""`aqmlab sweep`: an experiment from a file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.command.options import WarningsOption, read_change, read_count
from aqmlab.command.terminal import Interrupted, console, say, warn

if TYPE_CHECKING:
    from aqmlab.engine import Engine
    from aqmlab.experiment import Experiment, Outcome
    from aqmlab.folder import Claim

MADE_BY = "aqmlab sweep"
EXPERIMENT, RUNS, SUMMARY, EFFECTS = "experiment.toml", "runs", "summary.csv", "effects.csv"
FIGURES = "figures"


def sweep_command(
    file: Annotated[Path, typer.Argument(help="An experiment, TOML.", metavar="FILE")],
    jobs: Annotated[
        str | None, typer.Option(help="Runs at a time; default: the cores.", metavar="N")
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on in a folder; what was run there is not run again."),
    ] = False,
    executor: Annotated[
        str,
        typer.Option(
            help="Where runs go: local, the cores of this machine; dask, processes here; "
            "dask://HOST:PORT, a scheduler of Dask; slurm, jobs of SLURM with --jobs cores.",
            metavar="NAME",
        ),
    ] = "local",
    cluster: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="What a job of slurm is, e.g. queue=long, cores=8, memory='16 GB', "
            "walltime=04:00:00; may be given again. Default: the configuration of Dask.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder to make; default results/ and FILE's name.", metavar="DIR"),
    ] = None,
    warnings: WarningsOption = True,
) -> None:
    """Run an experiment: factors, arms, replications; leave its runs and what they say."""
    from aqmlab.command.results import show
    from aqmlab.experiment import Experiment, Outcome, carry_out, prepare
    from aqmlab.progress import Count
    from aqmlab.store import FolderStore

    threads = read_count("--jobs", jobs)
    experiment = Experiment.read(file)
    folder = out or Path("results") / file.stem
    kept = FolderStore(folder.resolve() / RUNS)
    at_once = threads if executor == "local" or "://" in executor else None
    with engine(executor, threads, cluster) as there:
        work = prepare(experiment, engine=there, store=kept, jobs=at_once)
        with place(folder, experiment, resume=resume) as claim:
            try:
                with kept, Count() as count:
                    outcome: Outcome = carry_out(work, count)
            except KeyboardInterrupt:
                told = f"{kept.finished} finished runs are in {folder}; --resume goes on with them"
                raise Interrupted(told) from None
            leave(outcome, claim)
    show(outcome, console())
    warn([*outcome.warnings, *outcome.cautions] if warnings else [])
    say(f"Written to {folder}")


@contextmanager
def engine(executor: str, jobs: int | None, options: list[str] | None) -> "Iterator[Engine | None]":
    """Give what runs go to; None: the simulator here.

    Raises
    ------
    ValueError, OSError
        If there is none of that name, or it cannot be had.
    """
    said = dict(read_change(option, "queue=long", "--cluster") for option in options or [])
    if executor == "local" and not said:
        yield None
        return
    from aqmlab.engine.cluster import connect

    with connect(executor, jobs, {key: _value(text) for key, text in said.items()}) as there:
        yield there


def _value(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


@contextmanager
def place(folder: Path, experiment: "Experiment", *, resume: bool) -> Iterator["Claim"]:
    """Give the right to write a sweep's folder, which is there then, with the experiment as said.

    Raises
    ------
    FileExistsError
        If the folder holds something else, or an earlier sweep that is not to be gone on with.
    OSError
        If it cannot be written.
    """
    from aqmlab.folder import Claim, is_of

    there = is_of(folder, MADE_BY)
    if there and not resume:
        raise FileExistsError(
            f"{folder} holds an earlier sweep; --resume goes on with it, or give another folder"
        )
    with Claim(folder, MADE_BY, adds=there) as claim:
        if there:
            part = claim.parts / EXPERIMENT
            part.write_text(experiment.said, "utf-8")
            part.replace(claim.final / EXPERIMENT)
        else:
            (claim.new / EXPERIMENT).write_text(experiment.said, "utf-8")
            claim.appear()
        yield claim


def leave(outcome: "Outcome", claim: "Claim") -> None:
    """Write the runs and what they say into a sweep's folder, each file whole or not at all.

    Raises
    ------
    OSError
        If one cannot be written.
    """
    from aqmlab.experiment.outcome import FILE

    outcome.write(claim.parts / FILE)
    outcome.summary().to_csv(claim.parts / SUMMARY, index=False)
    effects = outcome.effects_table()
    effects.to_csv(claim.parts / EFFECTS, index=False)
    if outcome.plots:
        from aqmlab.figures import save
        from aqmlab.figures.experiment import figures_of

        (claim.final / FIGURES).mkdir(exist_ok=True)
        for name, figure in figures_of(outcome):
            for suffix in ("png", "svg"):
                save(figure, claim.final / FIGURES / f"{name}.{suffix}")
    for name in (FILE, SUMMARY, EFFECTS):
        (claim.parts / name).replace(claim.final / name)
