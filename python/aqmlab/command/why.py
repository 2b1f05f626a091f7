"""`aqmlab why`: the reasons for drops, marks and changes of cwnd."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.command import completion
from aqmlab.command.options import SeedOption, SetOption, read_count, read_overrides
from aqmlab.command.terminal import console, print_text

if TYPE_CHECKING:
    import pandas as pd

    from aqmlab.results import Result

SERIES = ("why", "why_cwnd")
EXAMPLES = (
    "aqmlab why examples/two_flows.toml --flow download-0 --rows 5",
    "aqmlab why examples/two_flows.toml --set network.queue=codel --link 'left>right'",
)


def why_command(
    source: Annotated[
        Path,
        typer.Argument(
            help="Scenario to run, or folder of a finished run that recorded the series 'why' or "
            "'why_cwnd'.",
            metavar="RUN",
            autocompletion=completion.scenarios,
        ),
    ],
    flow: Annotated[
        str | None, typer.Option("--flow", help="Show only this flow.", metavar="NAME")
    ] = None,
    link: Annotated[
        str | None,
        typer.Option("--link", help="Show only this link, e.g. 'left>right'.", metavar="NAME"),
    ] = None,
    rows: Annotated[
        str, typer.Option("--rows", help="Maximum number of rows per table.", metavar="N")
    ] = "20",
    changes: SetOption = None,
    seed: SeedOption = None,
) -> None:
    """Show why packets were dropped or marked, and why cwnd and ssthresh changed.

    For each drop and mark, the command shows the rule that fired and the variables of the queue at
    that time. For each change of cwnd or ssthresh, it shows the rule of the sender.
    """
    maximum = read_count("--rows", rows) or 1
    run = _run(source, read_overrides(changes, seed, None))
    if "why" in run.tables:
        table = _selected(run, "why", {"flow": flow, "link": link})
        _show_rules(table, "Drops and marks", ["link", "signal", "rule", "source"])
        _show_decisions(table, maximum)
    if "why_cwnd" in run.tables:
        table = _selected(run, "why_cwnd", {"flow": flow})
        _show_rules(table, "Changes of cwnd and ssthresh", ["rule", "source"])
        _show_changes(table, maximum)


def _run(source: Path, overrides: list[tuple[str, str]]) -> "Result":
    """Return a finished run, or run a scenario with the two series."""
    import json

    import aqmlab
    from aqmlab.results import Result
    from aqmlab.scenario import normalize

    if not source.is_dir():
        scenario = json.loads(normalize(source, overrides=overrides))
        scenario["record"]["series"] = list(dict.fromkeys([*scenario["record"]["series"], *SERIES]))
        return aqmlab.run(scenario)
    if overrides:
        raise ValueError(
            f"{source} is a finished run, which cannot be changed; leave out --set and --seed, or "
            "give the scenario instead of the run"
        )
    run = Result.read(source)
    if not set(SERIES) & set(run.tables):
        raise ValueError(
            f"{source} did not record the series 'why' or 'why_cwnd'; give the scenario instead of "
            'the run, or write [record] series = ["why", "why_cwnd"] in the scenario'
        )
    return run


def _selected(run: "Result", name: str, chosen: dict[str, str | None]) -> "pd.DataFrame":
    """Return the rows of a table with the chosen values; refuse names that no row can have."""
    table = run.table(name)
    known = {"flow": set(run.flows["flow"]), "link": set(run.links["link"])}
    for column, value in chosen.items():
        if value is None:
            continue
        known[column] |= set(table[column])
        if value not in known[column]:
            raise ValueError(
                f"--{column}: {value!r} is not a {column} of this run, which has "
                f"{', '.join(sorted(known[column]))}"
            )
        table = table[table[column] == value]
    return table


def _show_rules(table: "pd.DataFrame", title: str, keys: list[str]) -> None:
    """Print how often each rule fired, the most frequent first."""
    from rich.table import Table

    shown = Table(title=f"{title}: {len(table)}")
    for head in keys:
        shown.add_column(head)
    shown.add_column("rows", justify="right")
    shown.add_column("condition")
    counts = table.groupby(keys, observed=True).size().sort_values(ascending=False, kind="stable")
    for key, number in counts.items():
        values = dict(zip(keys, key, strict=True)) if isinstance(key, tuple) else {keys[0]: key}
        meaning = _conditions().get((values["rule"], values["source"]), "")
        shown.add_row(*map(str, values.values()), str(number), meaning)
    if len(table):
        console().print(shown)
    else:
        print_text(f"{title}: none.")


def _conditions() -> dict[tuple[str, str], str]:
    """Return the condition of each rule, by its name and its source."""
    from aqmlab import manual

    pages = manual.pages().values()
    return {(rule.name, rule.source): rule.meaning for page in pages for rule in page.rules}


def _show_decisions(table: "pd.DataFrame", maximum: int) -> None:
    """Print the first drops and marks with the variables of the queue."""
    from rich.table import Table

    first = list(table.columns).index("source") + 1
    shown = Table(title=_first(table, maximum, "drops and marks"))
    for head in ("time s", "link", "flow", "seq", "signal", "rule", "variables"):
        shown.add_column(head, justify="right" if head in ("time s", "seq") else "left")
    for row in table.head(maximum).to_dict("records"):
        values = [(str(name), row[name]) for name in table.columns[first:]]
        variables = ", ".join(f"{name} {value:.6g}" for name, value in values if value == value)
        shown.add_row(
            f"{row['time_s']:.6f}", row["link"], row["flow"], str(row["seq"]), row["signal"],
            row["rule"], variables,
        )  # fmt: skip
    if len(table):
        console().print(shown)


def _show_changes(table: "pd.DataFrame", maximum: int) -> None:
    """Print the first changes of cwnd and ssthresh."""
    from rich.table import Table

    shown = Table(title=_first(table, maximum, "changes"))
    for head in ("time s", "flow", "connection", "cwnd B", "ssthresh B", "rule"):
        shown.add_column(head, justify="left" if head in ("flow", "rule") else "right")
    for row in table.head(maximum).to_dict("records"):
        windows = (
            f"{row[f'{name}_before_bytes']:.0f} → {row[f'{name}_after_bytes']:.0f}"
            for name in ("cwnd", "ssthresh")
        )
        flow = f"{row['flow']} (reply)" if row["reply"] else str(row["flow"])
        shown.add_row(
            f"{row['time_s']:.6f}", flow, str(row["connection"]), *windows, str(row["rule"])
        )
    if len(table):
        console().print(shown)


def _first(table: "pd.DataFrame", maximum: int, what: str) -> str:
    return f"The first {maximum} of {len(table)} {what}" if len(table) > maximum else f"All {what}"
