"""Summary of a run in the terminal: tables of its flows and of its relevant links."""

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
WIDE = 110
MOST_GROUPS = 5
COUNTS = (
    "segments_sent",
    "retransmitted_segments",
    "timeouts",
    "dropped_packets",
    "marked_packets",
)


def show(result: "Result", console: "Console") -> None:
    """Print a run: a heading, its flows, its relevant links, closing lines."""
    for part in parts(result, wide=console.width >= WIDE):
        console.print(part, markup=False, highlight=False)


def parts(result: "Result", *, wide: bool) -> "list[RenderableType]":
    """Return the heading, the tables and the closing lines of a run.

    Columns that the engine did not fill are not in the tables; a line names them.
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
    """Return what the manifest has about the run itself, in one line."""
    manifest = result.manifest
    events = ""
    if "events" in manifest:
        events = f" simulated in {manifest['events']:,} events"
    if "tie_share" in manifest:
        events += f", of which {100 * manifest['tie_share']:.2g} % shared their instant"
    version = f", aqmlab {manifest['version']}" if "version" in manifest else ""
    return [f"{manifest['simulated_s']:.6g} s{events}; seed {manifest['seed']}{version}"]


class Read:
    """The columns of a table as they are shown, and those of them that the engine did not fill."""

    def __init__(self, columns: "Columns") -> None:
        self._columns = columns
        self.absent: list[str] = []

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

    def there(self, *names: str) -> list[str]:
        """Return those of some columns that are filled, and note the others as absent."""
        self.absent += [name for name in names if name not in self._columns]
        return [name for name in names if name in self._columns]


Shape = tuple[str, str, Callable[[Any], str]]
"""A column as it is shown: its name, its head, and the text of a value."""


def _count(value: Any) -> str:
    return str(value)


def _scaled(factor: float, digits: int) -> Callable[[Any], str]:
    return lambda value: f"{factor * value:.{digits}f}"


def _completed(value: Any) -> str:
    return "not yet" if math.isnan(value) else f"{value:.3f}"


def rows_of(seen: Read, names: Sequence[tuple[str, str]], shapes: Sequence[Shape]) -> "Table":
    """Return a table with names and the columns that are there, the first twenty rows of many."""
    there = set(seen.there(*(name for name, _, _ in shapes)))
    chosen = [shape for shape in shapes if shape[0] in there]
    made = table(*(head for _, head in names), *(head for _, head, _ in chosen))
    n = len(seen[names[0][0]])
    for i in range(min(n, MOST_ROWS)):
        cells = (text(seen[name][i]) for name, _, text in chosen)
        made.add_row(*(seen[name][i] for name, _ in names), *cells)
    if n > MOST_ROWS:
        made.add_row(f"... {n - MOST_ROWS} more")
    return made


def tcp_lines(result: "Result") -> list[str]:
    """Return one line of TCP settings per set of equal flows, for at most five sets."""
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
        lines.append(f"... {len(result.tcp) - MOST_GROUPS} more groups: see tcp in the manifest")
    return lines


FLOW: tuple[Shape, ...] = (
    ("start_s", "start s", _scaled(1, 3)),
    ("completed_s", "completed s", _completed),
    ("goodput_bps", "goodput kbit/s", _scaled(1e-3, 1)),
    ("segments_sent", "sent segments", _count),
    ("retransmitted_segments", "resent segments", _count),
    ("timeouts", "timeouts", _count),
    ("dropped_packets", "dropped packets", _count),
    ("marked_packets", "marked packets", _count),
)


def flow_table(seen: Read, *, wide: bool) -> "Table":
    """Return the flows, the first twenty of many, and their totals; ends and start only if wide."""
    n = len(seen["flow"])
    heads = ["flow", *["from > to"] * wide]
    there = seen.there(*(name for name, _, _ in FLOW if wide or name != "start_s"))
    shapes = [shape for shape in FLOW if shape[0] in there]
    made = table(*heads, *(head for _, head, _ in shapes))
    for i in range(min(n, MOST_ROWS)):
        ends = [f"{seen['from'][i]} > {seen['to'][i]}"] if wide else []
        made.add_row(seen["flow"][i], *ends, *(text(seen[name][i]) for name, _, text in shapes))
    if n > MOST_ROWS:
        made.add_row(f"... {n - MOST_ROWS} more")
    if n > 1 and not set(COUNTS).isdisjoint(there):
        totals = [str(sum(map(int, seen[name]))) if name in COUNTS else "" for name, *_ in shapes]
        made.add_section()
        made.add_row("total", *[""] * (len(heads) - 1), *totals)
    return made


def connection_table(seen: Read, *, wide: bool) -> "Table":  # noqa: ARG001
    """Return the flows whose connections come and go, the first twenty of many."""
    shapes: list[Shape] = [("opened", "opened", _count), ("completed", "completed", _count)]
    for what, head in (("mean", "mean"), ("median", "median"), ("p99", "99th")):
        shapes.append((f"{what}_duration_s", f"{head} s", _scaled(1, 3)))
    shapes.append(("longest_duration_s", "longest s", _scaled(1, 3)))
    return rows_of(seen, [("flow", "connections of")], shapes)


def exchange_table(seen: Read, *, wide: bool) -> "Table":  # noqa: ARG001
    """Return the flows with requests and responses, the first twenty of many."""
    counts = (("requests", "requests"), ("unfinished", "unfinished"),
              ("response_bytes", "response bytes"))  # fmt: skip
    shapes: list[Shape] = [(name, head, _count) for name, head in counts]
    for what, head in (("mean", "mean"), ("median", "median"), ("p99", "99th")):
        shapes.append((f"{what}_duration_s", f"{head} ms", _scaled(1e3, 2)))
    shapes.append(("longest_duration_s", "longest ms", _scaled(1e3, 2)))
    shapes.append(("responsiveness_rpm", "round trips/min", _scaled(1, 0)))
    return rows_of(seen, [("flow", "requests of")], shapes)


def datagram_table(seen: Read, *, wide: bool) -> "Table":  # noqa: ARG001
    """Return the flows that nobody answers, the first twenty of many."""
    counts = (("sent", "sent"), ("lost", "lost"), ("reordered", "late"), ("marked", "marked"))
    shapes: list[Shape] = [(f"{a}_packets", f"{b} packets", _count) for a, b in counts]
    for what, head in (("mean", "mean"), ("p99", "99th"), ("longest", "longest")):
        shapes.append((f"{what}_delay_s", f"{head} ms", _scaled(1e3, 2)))
    return rows_of(seen, [("flow", "datagrams of")], shapes)


def conditioner_table(seen: Read, *, wide: bool) -> "Table":  # noqa: ARG001
    """Return the conditioners by rule and colour, the first twenty rows of many."""
    names = [("link", "conditioner"), *((name, name) for name in ("rule", "colour", "action"))]
    counts = ("arrived", "dropped")
    shapes: list[Shape] = [(f"{name}_packets", f"{name} packets", _count) for name in counts]
    return rows_of(seen, names, shapes)


def class_table(seen: Read, *, wide: bool) -> "Table":  # noqa: ARG001
    """Return the classes of schedulers, the first twenty of many."""
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
    """Return the links that dropped, marked or were half busy; the busiest if none did."""
    there = seen.there(*(name for name, _, _ in LINK))
    shapes = [shape for shape in LINK if shape[0] in there]
    chosen = links_that_matter(seen, there)
    made = table("link", *(head for _, head, _ in shapes))
    for i in chosen[:MOST_ROWS]:
        made.add_row(seen["link"][i], *(text(seen[name][i]) for name, _, text in shapes))
    left = len(seen["link"]) - len(chosen[:MOST_ROWS])
    if left:
        made.add_row(f"... {left} more")
    return made


def links_that_matter(links: Read, there: Collection[str]) -> list[int]:
    """Return the rows of links that dropped, marked or were half busy; else of the busiest.

    Of an engine that filled none of these columns, it returns all rows.
    """
    rows = range(len(links["link"]))
    lost = [name for name in ("dropped_packets", "marked_packets") if name in there]
    busy = links["utilization"] if "utilization" in there else None
    chosen = [
        i for i in rows
        if any(links[name][i] for name in lost) or (busy is not None and busy[i] >= 0.5)
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
"""The tables of a run that are shown, in their order."""


def table(*heads: str) -> "Table":
    """Return an empty table. Every column except the first and the endpoints has numbers."""
    from rich import box
    from rich.table import Table

    class Shown(Table):
        def add_row(self, *cells: Any, **how: Any) -> None:
            super().add_row(*(shortened(visible(str(c)), LONGEST_NAME) for c in cells), **how)

    shown = Shown(box=box.SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    for i, head in enumerate(heads):
        if i == 0 or head == "from > to":
            shown.add_column(head, overflow="fold")
        else:  # the unit is on a second line
            shown.add_column(head.replace(" ", "\n"), justify="right")
    return shown
