"""`aqmlab calibrate`: users of the web for an offered load, their requests frozen for replay."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.command.options import StoreOption, read_change, read_count, read_rate, read_warm_up
from aqmlab.command.terminal import console, resumable, say

if TYPE_CHECKING:
    from aqmlab.experiment.calibration import Calibrated

MADE_BY = "aqmlab calibrate"
DUMBBELL = "left>right"


def calibrate_command(
    file: Annotated[Path, typer.Argument(help="A scenario, TOML or JSON.", metavar="SCENARIO")],
    loads: Annotated[
        list[str],
        typer.Option(
            "--load",
            help="Load to offer on the link, e.g. '90 Mbit/s'; given again for each.",
            metavar="RATE",
        ),
    ],
    link: Annotated[
        str | None,
        typer.Option(
            help="The link whose load it is; default: left>right of a dumbbell.", metavar="FROM>TO"
        ),
    ] = None,
    uncongested: Annotated[
        list[str] | None,
        typer.Option(
            help="What makes the network so wide that nothing waits; default, of a dumbbell: ten "
            "times the rate, and a buffer of 100000 packets.",
            metavar="KEY=VALUE",
        ),
    ] = None,
    warm_up: Annotated[
        str | None,
        typer.Option(help="Leave this time out of the load, e.g. '20 s'; default: none."),
    ] = None,
    tolerance: Annotated[
        float, typer.Option(help="How far the load may be off, in %.", metavar="X")
    ] = 0.3,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the scenario."),
    ] = None,
    replications: Annotated[
        str, typer.Option(help="Lists for each load, each of its seed.", metavar="N")
    ] = "1",
    jobs: Annotated[
        str | None, typer.Option(help="Runs at a time; default: the cores.", metavar="N")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder to make; default results/SCENARIO-calibrated.", metavar="DIR"),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an earlier calibration in the folder.")
    ] = False,
    store: StoreOption = None,
) -> None:
    """Find users of the web for an offered load, and freeze their requests for replay."""
    from contextlib import ExitStack

    from aqmlab.experiment.calibration import Wanted, calibrate
    from aqmlab.folder import appearing
    from aqmlab.progress import Bar
    from aqmlab.scenario import changed, normalize
    from aqmlab.store import FolderStore

    scenario = changed(file, [read_change(change) for change in changes or []])
    whole = json.loads(normalize(scenario))
    wide = [
        read_change(change, "network.rate='1 Gbit/s'", "--uncongested")
        for change in uncongested or []
    ]
    wide = wide or _widened(whole)
    if link is None and whole["network"]["kind"] != "dumbbell":
        raise ValueError("--link: the network is no dumbbell; say whose load it is, as FROM>TO")
    asked = {text: read_rate("--load", text) for text in loads}
    warm_up_s = read_warm_up(warm_up) or 0.0
    count, threads = read_count("--replications", replications) or 1, read_count("--jobs", jobs)
    folder = out or Path("results") / f"{file.stem}-calibrated"
    every = [(text, seed) for text in asked for seed in range(whole["seed"], whole["seed"] + count)]
    with ExitStack() as stack:
        kept = stack.enter_context(FolderStore(store)) if store else None
        if kept:
            stack.enter_context(resumable(kept))
        new = stack.enter_context(appearing(folder, MADE_BY, force=force))
        with Bar() as bar:
            found = calibrate(
                [Wanted(scenario | {"seed": seed}, asked[text], new / _name(text, seed))
                 for text, seed in every],
                link=link or DUMBBELL, uncongested=wide, warm_up_s=warm_up_s,
                tolerance=tolerance / 100, jobs=threads, store=kept, progress=bar,
            )  # fmt: skip
        for (text, seed), one in zip(every, found, strict=True):
            leave(
                one,
                scenario | {"seed": seed},
                folder / _name(text, seed),
                new / _name(text, seed),
                file,
            )
        show(every, found)
    say(f"Written to {folder}: a folder a load and seed, with the frozen scenario and its lists.")


def _name(load: str, seed: int) -> str:
    return f"{load.replace(' ', '').replace('/', 'p')}-{seed}"


def _widened(scenario: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what makes a dumbbell wide."""
    network = scenario["network"]
    if network["kind"] != "dumbbell":
        raise ValueError(
            "--uncongested: the network is no dumbbell; say what makes it so wide that nothing "
            "waits, for example network.links.0.rate='1 Gbit/s'"
        )
    number, unit = network["rate"].split()
    queue = "{ kind = 'drop_tail', limit = '100000 packets' }"
    return [("network.rate", f"'{10 * float(number):.12g} {unit}'"), ("network.queue", queue)]


def show(every: list[tuple[str, int]], found: "list[Calibrated]") -> None:
    """Print what was found, a row a load and seed."""
    from rich.table import Table

    table = Table(title="Offered loads")
    table.add_column("load")
    for head in ("seed", "users", "requests", "measured (Mbit/s)"):
        table.add_column(head, justify="right")
    for (text, seed), one in zip(every, found, strict=True):
        users, requests = 0, 0
        for file in one.lists.values():
            rows = file.read_text("utf-8").splitlines()[1:]
            users += len({row.partition(",")[0] for row in rows})
            requests += len(rows)
        table.add_row(text, str(seed), str(users), str(requests), f"{one.load_bps / 1e6:.3f}")
    console().print(table)


def leave(
    one: "Calibrated", scenario: dict[str, Any], final: Path, folder: Path, file: Path
) -> None:
    """Write the frozen scenario beside its lists; it names them where they will be."""
    from aqmlab.experiment.calibration import frozen
    from aqmlab.scenario import toml_document

    lists = {i: final / path.name for i, path in one.lists.items()}
    said = frozen(scenario, lists, one.users)
    (folder / f"{file.stem}.toml").write_text(toml_document(said), "utf-8")
