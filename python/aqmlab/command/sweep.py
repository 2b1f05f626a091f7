"""`aqmlab sweep`: execution of an experiment that a TOML file describes."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.command.options import (
    EngineOption,
    ForceOption,
    JobsOption,
    ResumeOption,
    SeedOption,
    SetOption,
    WarmUpOption,
    WarningsOption,
    out,
    read_change,
    read_count,
    read_engine,
    read_overrides,
    replications,
    store,
)
from aqmlab.command.terminal import (
    Interrupted,
    console,
    print_text,
    print_warnings,
    resumable,
)

if TYPE_CHECKING:
    from aqmlab.engine import Engine
    from aqmlab.experiment import Experiment, Outcome
    from aqmlab.folder import Claim

MADE_BY = "aqmlab sweep"
RUNS, SUMMARY, EFFECTS = "runs", "summary.csv", "effects.csv"
FIGURES = "figures"
EXAMPLES = (
    "aqmlab sweep examples/experiments/queue_size.toml --replications 2",
    "aqmlab sweep examples/experiments/queue_size.toml --resume --jobs 2",
)


def sweep_command(
    file: Annotated[Path, typer.Argument(help="An experiment, in TOML.", metavar="FILE")],
    seed: SeedOption = None,
    changes: SetOption = None,
    warm_up: WarmUpOption = None,
    number: Annotated[str | None, replications("those of the experiment, else 1")] = None,
    jobs: JobsOption = None,
    to: Annotated[Path | None, out("results/FILE, without its suffix")] = None,
    force: ForceOption = False,
    resume: ResumeOption = False,
    folder: Annotated[Path | None, store("the folder runs/ of the output")] = None,
    executor: Annotated[
        str,
        typer.Option(
            help="Place where the runs execute. local: threads of this process. dask: processes "
            "on this machine. dask://HOST:PORT: the workers of a running Dask scheduler. slurm: "
            "SLURM jobs, for which --jobs sets the total number of cores.",
            metavar="NAME",
        ),
    ] = "local",
    cluster: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Property of the SLURM jobs of --executor slurm, e.g. queue=long, cores=8, "
            "memory='16 GB' or walltime=04:00:00. Repeat --cluster to set several "
            "properties of the SLURM jobs.",
            show_default="the configuration of Dask",
        ),
    ] = None,
    warnings: WarningsOption = True,
    by: EngineOption = None,
) -> None:
    """Run an experiment: all its scenarios, each with several seeds.

    The output folder contains the finished runs. runs.parquet has one row per run, summary.csv the
    estimate of each measure, and effects.csv the effects of the factors. During the sweep and after
    an interruption, aqmlab results shows the results of the finished runs.
    """
    from aqmlab.command.results import show
    from aqmlab.experiment import Experiment, carry_out, prepare
    from aqmlab.progress import Count
    from aqmlab.store import FolderStore

    threads = read_count("--jobs", jobs)
    experiment = adjusted(
        Experiment.read(file), read_overrides(changes, seed), read_count("--replications", number),
        warm_up,
    )  # fmt: skip
    final = to or Path("results") / file.stem
    runs = FolderStore(folder or final.resolve() / RUNS)
    at_once = threads if executor == "local" or "://" in executor else None
    chosen = read_engine(by)
    if chosen is not None and executor != "local":
        raise ValueError(
            f"--executor {executor} always runs the simulator, so it excludes --engine {by}; "
            "leave out one of these options"
        )
    with engine(executor, threads, cluster) as of_executor:
        prepared = prepare(experiment, engine=of_executor or chosen, store=runs, jobs=at_once)
        with output_folder(final, experiment, resume=resume, force=force) as claim:
            with resumable(runs, "--resume", final), runs, Count() as count:
                outcome = carry_out(prepared, count, partial(write_runs, claim))
            write(outcome, claim)
    show(outcome, console())
    print_warnings([*outcome.warnings, *outcome.cautions] if warnings else [])
    print_text(f"Written to {final}")


def adjusted(
    experiment: "Experiment",
    overrides: list[tuple[str, str]],
    number: int | None,
    warm_up: str | None,
) -> "Experiment":
    """Return an experiment with the changes that the options of `aqmlab sweep` request.

    A comment in the text of the experiment lists these options.
    """
    from aqmlab.experiment import Replications
    from aqmlab.experiment.file import WarmUp
    from aqmlab.scenario import changed

    options: list[str] = []
    if overrides:
        experiment = replace(experiment, scenario=changed(experiment.scenario, overrides))
        options += [word for key, value in overrides for word in ("--set", f"{key}={value}")]
    if number:
        experiment = replace(experiment, replications=Replications(number))
        options += ["--replications", str(number)]
    if warm_up is not None:
        experiment = replace(experiment, warm_up=WarmUp(time=warm_up))
        options += ["--warm-up", warm_up]
    if not options:
        return experiment
    text = f"# Run with the options: {shlex.join(options)}\n{experiment.text}"
    return replace(experiment, text=text)


@contextmanager
def engine(executor: str, jobs: int | None, options: list[str] | None) -> "Iterator[Engine | None]":
    """Provide the engine for a value of ``--executor``; None for the simulator in this process.

    Raises
    ------
    ValueError, OSError
        If the executor does not exist, or the connection to it fails.
    """
    properties = dict(read_change(option, "queue=long", "--cluster") for option in options or [])
    if executor == "local" and not properties:
        yield None
        return
    from aqmlab.engine.cluster import connect

    values = {key: _value(text) for key, text in properties.items()}
    with connect(executor, jobs, values) as cluster:
        yield cluster


def _value(text: str) -> int | str:
    """Convert the value of ``--cluster KEY=VALUE`` to a number if it consists of digits."""
    return int(text) if text.isdecimal() else text


@contextmanager
def output_folder(
    folder: Path, experiment: "Experiment", *, resume: bool, force: bool = False
) -> Iterator["Claim"]:
    """Claim the output folder of a sweep for this process, and write the experiment into it.

    If a new sweep ends without any result, its folder is removed, so that the folder does not block
    the corrected experiment.

    Raises
    ------
    FileExistsError
        If the folder contains other files, or an earlier sweep without `resume` and `force`.
    OSError
        If the folder cannot be written.
    """
    from aqmlab.experiment.outcome import EXPERIMENT, FILE
    from aqmlab.folder import Claim, is_of

    continues = is_of(folder, MADE_BY) and resume
    with Claim(folder, MADE_BY, force=resume or force, adds=continues) as claim:
        if continues:
            part = claim.parts / EXPERIMENT
            part.write_text(experiment.text, "utf-8")
            part.replace(claim.final / EXPERIMENT)
        else:
            (claim.new / EXPERIMENT).write_text(experiment.text, "utf-8")
            claim.appear()
        try:
            yield claim
        except BaseException as e:
            if not (continues or isinstance(e, Interrupted) or (claim.final / FILE).exists()):
                claim.withdraw()
            raise


def write_runs(claim: "Claim", outcome: "Outcome") -> None:
    """Write the table of runs, which may be partial, into the folder of a sweep.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    from aqmlab.experiment.outcome import FILE

    outcome.write(claim.parts / FILE)
    (claim.parts / FILE).replace(claim.final / FILE)


def write(outcome: "Outcome", claim: "Claim") -> None:
    """Write the runs, the estimates and the effects into the folder of a sweep.

    The files appear in the folder only after all of them are complete.

    Raises
    ------
    OSError
        If a file cannot be written.
    """
    from aqmlab.experiment.outcome import FILE

    outcome.write(claim.parts / FILE)
    outcome.summary().to_csv(claim.parts / SUMMARY, index=False)
    effects = outcome.effects_table()
    effects.to_csv(claim.parts / EFFECTS, index=False)
    if outcome.plots:
        from aqmlab.figures import save_all
        from aqmlab.figures.experiment import figures_of

        (claim.final / FIGURES).mkdir(exist_ok=True)
        for name, figure in figures_of(outcome):
            save_all(figure, claim.final / FIGURES / name)
    for name in (FILE, SUMMARY, EFFECTS):
        (claim.parts / name).replace(claim.final / name)
