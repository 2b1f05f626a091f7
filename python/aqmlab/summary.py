"""Summary of a run in the terminal: tables of its flows and of its relevant links."""

import math
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
    """Return the heading, the tables and the closing lines of a run."""
    manifest = result.manifest
    heading = shortened(visible(result.scenario["title"] or "Untitled scenario"), WIDE)
    goodput = result.columns("flows")["goodput_bps"]
    lines = [
        f"{manifest['simulated_s']:.6g} s simulated in {manifest['events']:,} events, of which "
        f"{100 * manifest['tie_share']:.2g} % shared their instant; "
        f"seed {manifest['seed']}, aqmlab {manifest['version']}"
    ]
    tables = [flow_table(result, wide=wide)] if len(goodput) else []
    if "datagrams" in result.tables:
        tables.append(datagram_table(result))
    tables.append(link_table(result))
    if "classes" in result.tables:
        tables.append(class_table(result))
    if "conditioners" in result.tables:
        tables.append(conditioner_table(result))
    if "exchanges" in result.tables:
        tables.insert(1, exchange_table(result))
    if "connections" in result.tables:
        tables.insert(1, connection_table(result))
    elif len(goodput) > 1 and result.scenario["record"]["flows"] == "flow":
        lines.insert(0, f"Jain's index of the goodputs: {jain(goodput):.3f}")
    return [heading, *tables, *tcp_lines(result), *lines]


def tcp_lines(result: "Result") -> list[str]:
    """Return one line of TCP settings per set of equal flows, for at most five sets."""
    lines = []
    for group in result.tcp[:MOST_GROUPS]:
        sender, names = group["sender"], group["flows"]
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        preset = "no preset" if sender["preset"] == "none" else f"preset {sender['preset']}"
        sack = "with" if sender["sack"] else "without"
        lines.append(
            f"TCP of {', '.join(names[:3])}{more}: {preset}, {sender['congestion']['kind']}, "
            f"recovery {sender['recovery']}, {sack} SACK, ECN {group['ecn']}"
        )
    if len(result.tcp) > MOST_GROUPS:
        lines.append(f"... {len(result.tcp) - MOST_GROUPS} more groups: see tcp in the manifest")
    return lines


def flow_table(result: "Result", *, wide: bool) -> "Table":
    """Return the first twenty flows and all totals; with endpoints and start only if wide."""
    flows = result.columns("flows")
    n = len(flows["flow"])
    heads = ["flow", "from > to", "start s"] if wide else ["flow"]
    heads += ["completed s", "goodput kbit/s", "sent segments", "resent segments", "timeouts",
              "dropped packets", "marked packets"]  # fmt: skip
    shown = table(*heads)
    for i in range(min(n, MOST_ROWS)):
        ends = [f"{flows['from'][i]} > {flows['to'][i]}", f"{flows['start_s'][i]:.3f}"]
        shown.add_row(flows["flow"][i], *(ends if wide else []), *_flow(flows, i))
    if n > MOST_ROWS:
        shown.add_row(f"... {n - MOST_ROWS} more")
    if n > 1:
        totals = [str(sum(map(int, flows[name]))) for name in COUNTS]
        shown.add_section()
        shown.add_row("total", *([""] * (len(heads) - 6)), *totals)
    return shown


def _flow(flows: "Columns", i: int) -> list[str]:
    completed = flows["completed_s"][i]
    return [
        "not yet" if math.isnan(completed) else f"{completed:.3f}",
        f"{flows['goodput_bps'][i] / 1e3:.1f}",
        *(str(flows[name][i]) for name in COUNTS),
    ]


def connection_table(result: "Result") -> "Table":
    """Return the first twenty flows that open several connections."""
    connections = result.columns("connections")
    durations = ["mean_duration_s", "median_duration_s", "p99_duration_s", "longest_duration_s"]
    shown = table(
        "connections of", "opened", "completed", "mean s", "median s", "99th s", "longest s"
    )
    n = len(connections["flow"])
    for i in range(min(n, MOST_ROWS)):
        counts = (str(connections[name][i]) for name in ("opened", "completed"))
        times = (f"{connections[name][i]:.3f}" for name in durations)
        shown.add_row(connections["flow"][i], *counts, *times)
    if n > MOST_ROWS:
        shown.add_row(f"... {n - MOST_ROWS} more")
    return shown


def exchange_table(result: "Result") -> "Table":
    """Return the first twenty flows with requests and responses."""
    exchanges = result.columns("exchanges")
    shown = table("requests of", "requests", "unfinished", "response bytes", "mean ms", "median ms",
                 "99th ms", "longest ms", "round trips/min")  # fmt: skip
    n = len(exchanges["flow"])
    for i in range(min(n, MOST_ROWS)):
        counts = (str(exchanges[name][i]) for name in ("requests", "unfinished", "response_bytes"))
        names = (f"{what}_duration_s" for what in ("mean", "median", "p99", "longest"))
        times = (f"{1e3 * exchanges[name][i]:.2f}" for name in names)
        rpm = f"{exchanges['responsiveness_rpm'][i]:.0f}"
        shown.add_row(exchanges["flow"][i], *counts, *times, rpm)
    if n > MOST_ROWS:
        shown.add_row(f"... {n - MOST_ROWS} more")
    return shown


def datagram_table(result: "Result") -> "Table":
    """Return the first twenty flows of datagrams."""
    flows = result.columns("datagrams")
    delays = ["mean_delay_s", "p99_delay_s", "longest_delay_s"]
    shown = table("datagrams of", "sent packets", "lost packets", "late packets", "marked packets",
                 "mean ms", "99th ms", "longest ms")  # fmt: skip
    n = len(flows["flow"])
    for i in range(min(n, MOST_ROWS)):
        names = ("sent_packets", "lost_packets", "reordered_packets", "marked_packets")
        counts = (str(flows[name][i]) for name in names)
        shown.add_row(
            flows["flow"][i], *counts, *(f"{1e3 * flows[name][i]:.2f}" for name in delays)
        )
    if n > MOST_ROWS:
        shown.add_row(f"... {n - MOST_ROWS} more")
    return shown


def conditioner_table(result: "Result") -> "Table":
    """Return the first twenty rows of the conditioners, by rule and colour."""
    seen = result.columns("conditioners")
    shown = table("conditioner", "rule", "colour", "action", "arrived packets", "dropped packets")
    n = len(seen["link"])
    for i in range(min(n, MOST_ROWS)):
        words = (seen[name][i] for name in ("link", "rule", "colour", "action"))
        shown.add_row(*words, *(str(seen[f"{name}_packets"][i]) for name in ("arrived", "dropped")))
    if n > MOST_ROWS:
        shown.add_row(f"... {n - MOST_ROWS} more")
    return shown


def class_table(result: "Result") -> "Table":
    """Return the first twenty classes of schedulers."""
    classes = result.columns("classes")
    names = [f"{what}_packets" for what in ("arrived", "dropped", "marked", "departed")]
    shown = table("link", "class", *(name.replace("_", " ") for name in names))
    n = len(classes["link"])
    for i in range(min(n, MOST_ROWS)):
        counts = (str(classes[name][i]) for name in names)
        shown.add_row(classes["link"][i], classes["class"][i], *counts)
    if n > MOST_ROWS:
        shown.add_row(f"... {n - MOST_ROWS} more")
    return shown


def link_table(result: "Result") -> "Table":
    """Return the links of :func:`links_that_matter` as a table."""
    links = result.columns("links")
    chosen = links_that_matter(links)
    heads = ["arrived packets", "dropped packets", "marked packets", "delivered packets",
             "busy %"]  # fmt: skip
    shown = table("link", *heads)
    for i in chosen[:MOST_ROWS]:
        names = ["arrived_packets", "dropped_packets", "marked_packets", "delivered_packets"]
        counts = (str(links[name][i]) for name in names)
        shown.add_row(links["link"][i], *counts, f"{100 * links['utilization'][i]:.1f}")
    left = len(links["link"]) - len(chosen[:MOST_ROWS])
    if left:
        shown.add_row(f"... {left} more")
    return shown


def links_that_matter(links: "Columns") -> list[int]:
    """Return the links that dropped, marked, or were at least half busy, or else the busiest."""
    rows = range(len(links["link"]))
    busy: Any = links["utilization"]
    lost: Any = links["dropped_packets"]
    marked: Any = links["marked_packets"]
    chosen = [i for i in rows if lost[i] or marked[i] or busy[i] >= 0.5]
    chosen = chosen or [max(rows, key=lambda i: float(busy[i]))]
    return sorted(chosen, key=lambda i: -float(busy[i]))


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
