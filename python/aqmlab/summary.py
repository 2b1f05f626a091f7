"""Summary of a run for the terminal: tables of its flows and of its busiest links."""

import math
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from aqmlab.statistics import jain
from aqmlab.words import LONGEST_NAME, shortened, visible

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

    from aqmlab.results import Columns, Result

MOST_ROWS = 20
"""Maximum number of rows of a table in the summary."""
WIDE = 110
"""Minimum width of a terminal, in columns, for the wide tables."""
MOST_GROUPS = 5
"""Maximum number of lines with TCP settings in the summary."""
COUNTS = (
    "segments_sent",
    "retransmitted_segments",
    "timeouts",
    "dropped_packets",
    "marked_packets",
)
"""Columns of the table of flows that have a total in the last row."""


def show(result: "Result", console: "Console") -> None:
    """Print the summary of a run: title, flows, busiest links, and closing lines."""
    for part in parts(result, wide=console.width >= WIDE):
        console.print(part, markup=False, highlight=False)


def parts(result: "Result", *, wide: bool) -> "list[RenderableType]":
    """Return the heading, the tables and the closing lines of the summary of a run.

    If the engine did not fill some columns, the tables omit these columns, and a closing line names
    them.
    """
    heading = shortened(visible(result.scenario["title"] or "Untitled scenario"), WIDE)
    shown = {name: function for name, function in SHOWN.items() if name in result.tables}
    flows = result.columns("flows") if "flows" in shown else {}
    absent = [] if "flows" in shown else ["flows"]
    absent += [] if "links" in shown else ["links"]
    if not len(flows.get("flow", ())):
        shown.pop("flows", None)
    tables, lines = [], manifest_lines(result)
    for name, function in shown.items():
        seen = Read(result.columns(name))
        tables.append(function(seen, wide=wide))
        absent += [f"{name}.{column}" for column in seen.absent]
    alone = "connections" not in result.tables and result.scenario["record"]["flows"] == "flow"
    goodput = flows.get("goodput_bps", ())
    if alone and len(goodput) > 1:
        lines.insert(0, f"Jain's index of the goodputs: {jain(goodput):.3f}")
    if absent:
        lines.append(f"Not measured by the engine: {', '.join(absent)}.")
    return [heading, *tables, *tcp_lines(result), *lines]


def manifest_lines(result: "Result") -> list[str]:
    """Return a line with the simulated time of a run, its number of events, seed and version."""
    manifest = result.manifest
    events = ""
    if "engine" in manifest:
        events = f", measured by {manifest['engine']}"
    if "lateness" in manifest:
        late = manifest["lateness"]
        events += f", packets {1e6 * late['p50_s']:.2g} \N{MICRO SIGN}s late in the median"
        events += f" and {1e6 * late['p99_s']:.2g} \N{MICRO SIGN}s at 99 %"
    if "events" in manifest:
        events = f" simulated in {manifest['events']:,} events"
    if "tie_share" in manifest:
        events += f", {100 * manifest['tie_share']:.2g} % of them at the same time as another event"
    version = f", aqmlab {manifest['version']}" if "version" in manifest else ""
    spread = manifest.get("start_spread_s")
    starts = f", random start times within {spread:g} s" if spread else ""
    return [f"{manifest['simulated_s']:.6g} s{events}; seed {manifest['seed']}{starts}{version}"]


class Read:
    """Columns of a table. `absent` lists the requested columns that the engine did not fill."""

    def __init__(self, columns: "Columns") -> None:
        self._columns = columns
        self.absent: list[str] = []

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

    def filled(self, *names: str) -> list[str]:
        """Return the columns in `names` that the engine filled; record the others as absent."""
        self.absent += [name for name in names if name not in self._columns]
        return [name for name in names if name in self._columns]


Shape = tuple[str, str, Callable[[Any], str]]
"""Format of a column: name of the column, heading, and function that formats a value."""


def _count(value: Any) -> str:
    """Format a count of packets or of events."""
    return str(value)


def _scaled(factor: float, digits: int) -> Callable[[Any], str]:
    """Return a function that multiplies a value by a factor, and formats the product."""
    return lambda value: f"{factor * value:.{digits}f}"


def _completed(value: Any) -> str:
    """Format the completion time of a flow in s; NaN becomes "unfinished"."""
    return "unfinished" if math.isnan(value) else f"{value:.3f}"


def rows_of(seen: Read, names: Sequence[tuple[str, str]], shapes: Sequence[Shape]) -> "Table":
    """Return a table of at most 20 rows: names, then the columns that the engine filled."""
    filled = set(seen.filled(*(name for name, _, _ in shapes)))
    chosen = [shape for shape in shapes if shape[0] in filled]
    rows = table(*(head for _, head in names), *(head for _, head, _ in chosen))
    n = len(seen[names[0][0]])
    for i in range(min(n, MOST_ROWS)):
        texts = (text(seen[name][i]) for name, _, text in chosen)
        rows.add_row(*(seen[name][i] for name, _ in names), *texts)
    if n > MOST_ROWS:
        rows.add_row(f"... {n - MOST_ROWS} more")
    return rows


def tcp_lines(result: "Result") -> list[str]:
    """Return lines with the TCP settings of each group of flows with equal settings."""
    lines = []
    for group in result.tcp[:MOST_GROUPS]:
        sender, names = group["sender"], group["flows"]
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        stack = f"stack {sender['stack']}"
        sack = "with" if sender["sack"] else "without"
        lines.append(
            f"TCP of {', '.join(names[:3])}{more}: {stack}, {sender['congestion']['kind']}, "
            f"recovery {sender['recovery']['method']}, {sack} SACK, ECN {group['ecn']}"
        )
    if len(result.tcp) > MOST_GROUPS:
        lines.append(
            f"... {len(result.tcp) - MOST_GROUPS} more TCP settings; the key tcp of the manifest "
            "has all of them"
        )
    return lines


FLOW: tuple[Shape, ...] = (
    ("start_s", "start s", _scaled(1, 3)),
    ("completed_s", "completed s", _completed),
    ("goodput_bps", "goodput kbit/s", _scaled(1e-3, 1)),
    ("segments_sent", "sent segments", _count),
    ("retransmitted_segments", "retransmitted segments", _count),
    ("timeouts", "timeouts", _count),
    ("dropped_packets", "dropped packets", _count),
    ("marked_packets", "marked packets", _count),
)


def flow_table(seen: Read, *, wide: bool) -> "Table":
    """Return a table of at most 20 flows, with totals over all flows.

    In a wide terminal, the table also has the endpoints and the start time of each flow.
    """
    n = len(seen["flow"])
    heads = ["flow", *["from > to"] * wide]
    filled = seen.filled(*(name for name, _, _ in FLOW if wide or name != "start_s"))
    shapes = [shape for shape in FLOW if shape[0] in filled]
    rows = table(*heads, *(head for _, head, _ in shapes))
    for i in range(min(n, MOST_ROWS)):
        endpoints = [f"{seen['from'][i]} > {seen['to'][i]}"] if wide else []
        texts = (text(seen[name][i]) for name, _, text in shapes)
        rows.add_row(seen["flow"][i], *endpoints, *texts)
    if n > MOST_ROWS:
        rows.add_row(f"... {n - MOST_ROWS} more")
    if n > 1 and not set(COUNTS).isdisjoint(filled):
        totals = [str(sum(map(int, seen[name]))) if name in COUNTS else "" for name, *_ in shapes]
        rows.add_section()
        rows.add_row("total", *[""] * (len(heads) - 1), *totals)
    return rows


def connection_table(seen: Read, *, wide: bool) -> "Table":  # noqa: ARG001
    """Return a table of at most 20 flows that open several connections."""
    shapes: list[Shape] = [("opened", "opened", _count), ("completed", "completed", _count)]
    for statistic, head in (("mean", "mean"), ("median", "median"), ("p99", "99 %")):
        shapes.append((f"{statistic}_duration_s", f"{head} s", _scaled(1, 3)))
    shapes.append(("longest_duration_s", "longest s", _scaled(1, 3)))
    return rows_of(seen, [("flow", "connections of")], shapes)


def exchange_table(seen: Read, *, wide: bool) -> "Table":  # noqa: ARG001
    """Return a table of at most 20 flows with requests and responses."""
    counts = (("requests", "requests"), ("unfinished", "unfinished"),
              ("response_bytes", "response bytes"))  # fmt: skip
    shapes: list[Shape] = [(name, head, _count) for name, head in counts]
    for statistic, head in (("mean", "mean"), ("median", "median"), ("p99", "99 %")):
        shapes.append((f"{statistic}_duration_s", f"{head} ms", _scaled(1e3, 2)))
    shapes.append(("longest_duration_s", "longest ms", _scaled(1e3, 2)))
    shapes.append(("responsiveness_rpm", "round trips/min", _scaled(1, 0)))
    return rows_of(seen, [("flow", "requests of")], shapes)


def datagram_table(seen: Read, *, wide: bool) -> "Table":  # noqa: ARG001
    """Return a table of at most 20 flows of datagrams."""
    counts = ("sent", "lost", "reordered", "marked")
    shapes: list[Shape] = [(f"{name}_packets", f"{name} packets", _count) for name in counts]
    for statistic, head in (("mean", "mean"), ("p99", "99 %"), ("longest", "longest")):
        shapes.append((f"{statistic}_delay_s", f"{head} ms", _scaled(1e3, 2)))
    return rows_of(seen, [("flow", "datagrams of")], shapes)


def conditioner_table(seen: Read, *, wide: bool) -> "Table":  # noqa: ARG001
    """Return a table of traffic conditioners with at most 20 rows, one per rule and colour."""
    names = [("link", "conditioner"), *((name, name) for name in ("rule", "colour", "action"))]
    counts = ("arrived", "dropped")
    shapes: list[Shape] = [(f"{name}_packets", f"{name} packets", _count) for name in counts]
    return rows_of(seen, names, shapes)


def class_table(seen: Read, *, wide: bool) -> "Table":  # noqa: ARG001
    """Return a table of at most 20 classes of schedulers."""
    counts = ("arrived", "dropped", "marked", "departed")
    shapes: list[Shape] = [(f"{name}_packets", f"{name} packets", _count) for name in counts]
    return rows_of(seen, [("link", "link"), ("class", "class")], shapes)


LINK: tuple[Shape, ...] = (
    ("arrived_packets", "arrived packets", _count),
    ("dropped_packets", "dropped packets", _count),
    ("marked_packets", "marked packets", _count),
    ("delivered_packets", "delivered packets", _count),
    ("utilization", "busy %", _scaled(100, 1)),
)


def link_table(seen: Read, *, wide: bool) -> "Table":  # noqa: ARG001
    """Return a table of at most 20 relevant links; see :func:`relevant_links`."""
    filled = seen.filled(*(name for name, _, _ in LINK))
    shapes = [shape for shape in LINK if shape[0] in filled]
    chosen = relevant_links(seen, filled)
    rows = table("link", *(head for _, head, _ in shapes))
    for i in chosen[:MOST_ROWS]:
        rows.add_row(seen["link"][i], *(text(seen[name][i]) for name, _, text in shapes))
    left = len(seen["link"]) - len(chosen[:MOST_ROWS])
    if left:
        rows.add_row(f"... {left} more")
    return rows


def relevant_links(links: Read, filled: Collection[str]) -> list[int]:
    """Return the rows of the links that drop or mark packets or have a utilization of 50 % or more.

    If no link meets this condition, the row of the link with the highest utilization is returned.
    If the engine measured neither drops nor marks nor utilization, all rows are returned.
    """
    rows = range(len(links["link"]))
    signals = [name for name in ("dropped_packets", "marked_packets") if name in filled]
    busy = links["utilization"] if "utilization" in filled else None
    chosen = [
        i for i in rows
        if any(links[name][i] for name in signals) or (busy is not None and busy[i] >= 0.5)
    ]  # fmt: skip
    if busy is None:
        return chosen or list(rows)
    chosen = chosen or [max(rows, key=lambda i: float(busy[i]))]
    return sorted(chosen, key=lambda i: -float(busy[i]))


SHOWN: "dict[str, Callable[..., Table]]" = {
    "flows": flow_table,
    "connections": connection_table,
    "exchanges": exchange_table,
    "datagrams": datagram_table,
    "links": link_table,
    "classes": class_table,
    "conditioners": conditioner_table,
}
"""Functions that return the tables of the summary, in the displayed order."""


def table(*heads: str) -> "Table":
    """Return an empty table. The first column and the column "from > to" are for names.

    All other columns are for numbers and are aligned to the right.
    """
    from rich import box
    from rich.table import Table

    class Shown(Table):
        def add_row(self, *cells: Any, **options: Any) -> None:
            super().add_row(*(shortened(visible(str(c)), LONGEST_NAME) for c in cells), **options)

    shown = Shown(box=box.SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    for i, head in enumerate(heads):
        if i == 0 or head == "from > to":
            shown.add_column(head, overflow="fold")
        else:  # the unit is on a second line
            shown.add_column(head.replace(" ", "\n"), justify="right")
    return shown
