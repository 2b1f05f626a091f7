"""`aqmlab calibrate`: search for the number of web users that produce a given load."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.command.options import (
    ForceOption,
    JobsOption,
    SeedOption,
    SetOption,
    StoreOption,
    WarmUpOption,
    out,
    read_change,
    read_count,
    read_overrides,
    read_rate,
    replications,
)
from aqmlab.command.terminal import console, print_text, resumable

if TYPE_CHECKING:
    from aqmlab.experiment.calibration import CalibratedLoad

MADE_BY = "aqmlab calibrate"
DUMBBELL = "left>right"
EXAMPLES = (
    "aqmlab calibrate examples/web_users.toml --load '9 Mbit/s' --warm-up '10 s'",
    "aqmlab calibrate examples/web_users.toml --load '9 Mbit/s' --load '10.5 Mbit/s' "
    "--replications 2 --out results/loads",
)


def calibrate_command(
    file: Annotated[
        Path, typer.Argument(help="A scenario with web traffic, in TOML or JSON.", metavar="FILE")
    ],
    loads: Annotated[
        list[str],
        typer.Option(
            "--load",
            help="Load of the link that the web users have to produce, e.g. '90 Mbit/s'. Repeat "
            "--load for several loads.",
            metavar="RATE",
        ),
    ],
    link: Annotated[
        str | None,
        typer.Option(
            help="Link whose load is measured.",
            metavar="FROM>TO",
            show_default="left>right of a dumbbell",
        ),
    ] = None,
    uncongested: Annotated[
        list[str] | None,
        typer.Option(
            help="Scenario change that prevents congestion during the measurement of the load, "
            "e.g. network.rate='1 Gbit/s'. Repeat --uncongested to change several keys.",
            metavar="KEY=VALUE",
            show_default="in a dumbbell, ten times the rate and a buffer of 100000 packets",
        ),
    ] = None,
    tolerance: Annotated[
        float,
        typer.Option(
            help="Maximum difference between the requested load and the measured load, in % of "
            "the requested load.",
            metavar="X",
        ),
    ] = 0.3,
    seed: SeedOption = None,
    changes: SetOption = None,
    warm_up: WarmUpOption = None,
    number: Annotated[str, replications("1")] = "1",
    jobs: JobsOption = None,
    to: Annotated[Path | None, out("results/FILE-calibrated")] = None,
    force: ForceOption = False,
    store: StoreOption = None,
) -> None:
    """Find the web users that produce a given load, and record their requests for a replay.

    The output has one folder per load and seed. Each of these folders contains lists of the
    requests of the web users, and a scenario that replays these requests.
    """
    from contextlib import ExitStack

    from aqmlab.experiment.calibration import LoadTarget, calibrate
    from aqmlab.folder import appearing
    from aqmlab.progress import Bar
    from aqmlab.scenario import changed, normalize
    from aqmlab.store import FolderStore

    scenario = changed(file, read_overrides(changes, seed))
    whole = json.loads(normalize(scenario))
    wide = [
        read_change(change, "network.rate='1 Gbit/s'", "--uncongested")
        for change in uncongested or []
    ]
    wide = wide or _widened(whole)
    if link is None and whole["network"]["kind"] != "dumbbell":
        raise ValueError(
            "--link is missing; it is required because the network is not a dumbbell; give the "
            "link whose load is measured as FROM>TO"
        )
    rates = {text: read_rate("--load", text) for text in loads}
    count, threads = read_count("--replications", number) or 1, read_count("--jobs", jobs)
    folder = to or Path("results") / f"{file.stem}-calibrated"
    every = [(text, k) for text in rates for k in range(whole["seed"], whole["seed"] + count)]
    with ExitStack() as stack:
        runs = stack.enter_context(FolderStore(store)) if store else None
        if runs:
            stack.enter_context(resumable(runs))
        new = stack.enter_context(appearing(folder, MADE_BY, force=force))
        with Bar() as bar:
            done = calibrate(
                [LoadTarget(scenario | {"seed": k}, rates[text], new / _name(text, k))
                 for text, k in every],
                link=link or DUMBBELL, uncongested=wide, warm_up=warm_up,
                tolerance=tolerance / 100, jobs=threads, store=runs, progress=bar,
            )  # fmt: skip
        for (text, k), one in zip(every, done, strict=True):
            write_scenario(
                one,
                scenario | {"seed": k},
                folder / _name(text, k),
                new / _name(text, k),
                file,
            )
        show(every, done)
    print_text(f"Written to {folder}, which has one folder per load and seed.")


def _name(load: str, seed: int) -> str:
    """Return the name of the output folder for a load and a seed."""
    return f"{load.replace(' ', '').replace('/', 'p')}-{seed}"


def _widened(scenario: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the keys and values that remove the congestion of a dumbbell."""
    network = scenario["network"]
    if network["kind"] != "dumbbell":
        raise ValueError(
            "--uncongested is missing; it is required because the network is not a dumbbell; give "
            "a change that prevents congestion, for example network.links.0.rate='1 Gbit/s'"
        )
    number, unit = network["rate"].split()
    queue = "{ kind = 'drop_tail', limit = '100000 packets' }"
    return [("network.rate", f"'{10 * float(number):.12g} {unit}'"), ("network.queue", queue)]


def show(every: list[tuple[str, int]], done: "list[CalibratedLoad]") -> None:
    """Print a table of users, requests and measured load, with one row per load and seed."""
    from rich.table import Table

    table = Table(title="Offered loads")
    table.add_column("load")
    for head in ("seed", "users", "requests", "measured (Mbit/s)"):
        table.add_column(head, justify="right")
    for (text, seed), one in zip(every, done, strict=True):
        users, requests = 0, 0
        for file in one.lists.values():
            rows = file.read_text("utf-8").splitlines()[1:]
            users += len({row.partition(",")[0] for row in rows})
            requests += len(rows)
        table.add_row(text, str(seed), str(users), str(requests), f"{one.load_bps / 1e6:.3f}")
    console().print(table)


def write_scenario(
    one: "CalibratedLoad", scenario: dict[str, Any], final: Path, folder: Path, file: Path
) -> None:
    """Write a scenario that replays the recorded lists of requests in the folder `final`."""
    from aqmlab.experiment.calibration import frozen
    from aqmlab.scenario import toml_document

    lists = {i: final / path.name for i, path in one.lists.items()}
    document = frozen(scenario, lists, one.users)
    (folder / f"{file.stem}.toml").write_text(toml_document(document), "utf-8")
