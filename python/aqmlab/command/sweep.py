"""`aqmlab sweep`: an experiment from a file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.command.options import WarningsOption, read_count
from aqmlab.command.terminal import Interrupted, console, say, warn

if TYPE_CHECKING:
    from aqmlab.experiment import Experiment, Outcome
    from aqmlab.folder import Claim

MADE_BY = "aqmlab sweep"
EXPERIMENT, RUNS, SUMMARY, EFFECTS = "experiment.toml", "runs", "summary.csv", "effects.csv"
FIGURES = "figures"
EXECUTORS = ("local",)


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
        str, typer.Option(help="Where runs go: local, the cores of this machine.", metavar="NAME")
    ] = "local",
    out: Annotated[
        Path | None,
        typer.Option(help="Folder to make; default results/ and FILE's name.", metavar="DIR"),
    ] = None,
    warnings: WarningsOption = True,
) -> None:
    """Run an experiment: factors, arms, replications; leave its runs and what they say."""
    from aqmlab.command.results import show
    from aqmlab.experiment import Experiment, Outcome, conduct
    from aqmlab.progress import Count

    threads = read_count("--jobs", jobs)
    if executor not in EXECUTORS:
        raise ValueError(f"--executor {executor!r} must be one of {', '.join(EXECUTORS)}")
    experiment = Experiment.read(file)
    folder = out or Path("results") / file.stem
    with place(folder, experiment, resume=resume) as claim:
        from aqmlab.store import Ledger

        kept = Ledger(claim.final / RUNS)
        try:
            with kept, Count() as count:
                outcome: Outcome = conduct(experiment, store=kept, jobs=threads, told=count)
        except KeyboardInterrupt:
            told = f"{kept.finished} finished runs are in {folder}; --resume goes on with them"
            raise Interrupted(told) from None
        leave(outcome, claim)
    show(outcome, console())
    warn([*outcome.warnings, *outcome.cautions] if warnings else [])
    say(f"Written to {folder}")


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
    with Claim(folder, MADE_BY) as claim:
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
