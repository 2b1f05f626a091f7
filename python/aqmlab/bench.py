"""Speed benchmark of this simulator and of its peers ns-2, ns-3 and htsim.

Each run of a scenario (S1, S2, …) is a separate process on a fixed core. The simulators take turns,
and so do the scenarios of one family, such as S2, S2-sack and S2+drops. A slow change of the
machine's speed therefore affects all of them alike. The set-up time of every simulator is excluded.
Quote ratios from a single call of the benchmark, because absolute speeds of different days are not
comparable.
"""

import functools
import itertools
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from aqmlab.engine import Progress

Measured = dict[str, float]
"""Values of one run: bottleneck_packets, hops, cpu_s, wall_s, and peak_rss_bytes (memory that the
run added). A run of aqmlab also has flows and memory_per_flow_bytes."""

ROOT = Path(__file__).parents[2]
SCENARIOS = ROOT / "benches" / "scenarios"
DERIVED = ROOT / "benches" / "derived.toml"
EMPTY = ROOT / "benches" / "empty.toml"
PEERS = ROOT / "benches" / "peers"
BUILT = ROOT / "target" / "peers"
BOTTLENECK = "left>right"


@dataclass(frozen=True)
class Simulator:
    """Simulator in the benchmark: its name, and a function that measures a run of a scenario."""

    name: str
    measure: Callable[[str], Measured]


class MissingPeerError(Exception):
    """Raised if a peer simulator is not installed; the message states how to install it."""


def names() -> list[str]:
    """Return the names of the benchmark scenarios.

    Raises
    ------
    FileNotFoundError
        If the function is called outside a checkout. The installed package does not include the
        scenarios.
    """
    scenarios = [path.stem for path in SCENARIOS.glob("*.toml")]
    if not scenarios:
        raise FileNotFoundError(f"no scenarios in {SCENARIOS}; run the benchmark in a checkout")
    return sorted([*scenarios, *derived()])


def derived() -> dict[str, dict[str, str]]:
    """Return the scenarios in benches/derived.toml: the base and the changed keys by name."""
    return tomllib.loads(DERIVED.read_text())


def source(scenario: str) -> tuple[Path, dict[str, str]]:
    """Return the file of a scenario, and the changes of a derived scenario to this file."""
    tables, changes = derived(), dict[str, str]()
    while scenario in tables:
        changes = tables[scenario] | changes
        scenario = changes.pop("base")
    return SCENARIOS / f"{scenario}.toml", changes


def family(scenario: str) -> str:
    """Return the beginning of a name that related scenarios have in common, e.g. S2 or flows."""
    return re.split("[-+]", scenario)[0]


def benchmark(
    scenarios: list[str],
    runs: int,
    peers: bool,
    report: Callable[[str], None],
    progress: "Progress | None" = None,
    wheel: Path | None = None,
) -> Iterator[dict[str, Any]]:
    """Measure the speed of simulators; yield one row per scenario and simulator.

    Parameters
    ----------
    scenarios : list of str
        Names of benchmark scenarios; an empty list stands for all scenarios.
    runs : int
        Number of runs per scenario and simulator, 1 or more. The values in a row are medians over
        these runs.
    peers : bool
        True to measure also ns-2, ns-3, htsim and the limit loop (benches/limit.rs), if they are
        available.
    report : callable
        Function that is called with a message for each missing peer simulator.
    progress : callable, optional
        Function that is called after each run with the number of finished runs and the number of
        all runs.
    wheel : Path, optional
        Wheel of aqmlab. Its simulator core is measured as one more simulator, named wheel.

    Yields
    ------
    dict
        The keys are scenario, simulator, bottleneck_packets, bottleneck_packets_per_cpu_s,
        hops_per_cpu_s, cpu_s, wall_s, peak_rss_bytes, memory_per_flow_bytes, runs and spread. The
        value of peak_rss_bytes is the peak of the process beyond its size before the run. The value
        of memory_per_flow_bytes is the peak beyond that of an empty run, divided by the number of
        flows or web users; it is None for the peers. The value of spread is the minimum and the
        maximum of bottleneck_packets_per_cpu_s.

    Raises
    ------
    ValueError
        If a scenario is unknown, or if the file `wheel` is not a wheel with a simulator core.
    OSError
        If the function is called outside a checkout, if the operating system is not Linux, if the
        wheel does not exist or is for another platform, or if a simulator fails.
    """
    ours = [Simulator("aqmlab", measure_here)]
    with tempfile.TemporaryDirectory() as folder:
        if wheel:
            core = unpacked_core(wheel, folder)
            ours.append(Simulator("wheel", functools.partial(measure_here, core=core)))
        plan = planned(scenarios, ours, peers, report)
        done, total = 0, runs * sum(map(len, plan.values()))
        for _, members in itertools.groupby(sorted(plan, key=family), family):
            turns = [(scenario, simulator) for scenario in members for simulator in plan[scenario]]
            taken: list[list[Measured]] = [[] for _ in turns]
            for _ in range(runs):
                for (scenario, simulator), measured in zip(turns, taken, strict=True):
                    measured.append(simulator.measure(scenario))
                    done += 1
                    if progress:
                        progress(done, total)
            for (scenario, simulator), measured in zip(turns, taken, strict=True):
                yield row(scenario, simulator.name, measured)


def planned(
    scenarios: list[str], ours: list[Simulator], peers: bool, report: Callable[[str], None]
) -> dict[str, list[Simulator]]:
    """Return the simulators to measure with each scenario: `ours`, followed by the peers."""
    known = names()
    for wanted in scenarios:
        if wanted not in known:
            raise ValueError(
                f"{wanted!r} is not a scenario of the benchmark; give one of {', '.join(known)}"
            )
    reported: set[str] = set()

    def report_once(message: str) -> None:
        if message not in reported:
            reported.add(message)
            report(message)

    return {
        scenario: [*ours, *(available(scenario, report_once) if peers else [])]
        for scenario in scenarios or known
    }


def row(scenario: str, simulator: str, measured: list[Measured]) -> dict[str, Any]:
    """Summarize the runs of one scenario in one simulator as a row."""

    def median(key: str) -> float:
        return statistics.median(m[key] for m in measured)

    per_flow = "memory_per_flow_bytes"
    rates = [m["bottleneck_packets"] / m["cpu_s"] for m in measured]
    return {
        "scenario": scenario,
        "simulator": simulator,
        "bottleneck_packets": int(median("bottleneck_packets")),
        "bottleneck_packets_per_cpu_s": statistics.median(rates),
        "hops_per_cpu_s": statistics.median(m["hops"] / m["cpu_s"] for m in measured),
        "cpu_s": median("cpu_s"),
        "wall_s": median("wall_s"),
        "peak_rss_bytes": int(median("peak_rss_bytes")),
        "memory_per_flow_bytes": int(median(per_flow)) if per_flow in measured[0] else None,
        "runs": len(measured),
        "spread": [min(rates), max(rates)],
    }


VARIANTS = {"": [], "red": ["q=red"], "ecn": ["q=red", "ecn=1"], "sack": ["sack=1"]}
"""Options of the scripts for ns-2 and ns-3, by variant of a scenario."""


def available(scenario: str, report: Callable[[str], None]) -> list[Simulator]:
    """Return the available peer simulators for a scenario; report the missing ones."""
    base, _, variant = scenario.partition("-")
    candidates: list[tuple[str, Callable[[], Callable[[str], Measured]]]] = []
    if base in ("S1", "S2", "S3"):
        candidates += [("ns-2", lambda: ns2(base, variant)), ("ns-3", lambda: ns3(base, variant))]
        if variant:
            report(f"htsim does not run {scenario}: htsim has neither RED nor a TCP with SACK")
        else:
            candidates.append(("htsim", lambda: htsim(base)))
    else:
        report("ns-2, ns-3 and htsim run only S1, S2 and S3, which have scripts")
    if scenario in LIMIT:
        candidates += [("limit loop", lambda: limit_loop(base))]
    peers = []
    for name, prepare in candidates:
        try:
            peers.append(Simulator(name, prepare()))
        except MissingPeerError as missing:
            report(f"{name} does not run: {missing}")
    return peers


def measure_here(scenario: str, core: Path | None = None) -> Measured:
    """Measure a run of a scenario by aqmlab, or by the simulator core in the file `core`."""
    path, changes = source(scenario)
    measured = measure_file(path, changes, core)
    beyond = measured["peak_rss_bytes"] - empty_bytes(core)
    return measured | {"memory_per_flow_bytes": beyond / measured["flows"]}


def measure_file(path: Path, changes: dict[str, str], core: Path | None) -> Measured:
    """Measure a run of a scenario file with changed keys in a separate process."""
    arguments = [str(path), json.dumps(changes), *([str(core)] if core else [])]
    measured: Measured = json.loads(pinned([sys.executable, "-m", "aqmlab.bench", *arguments]))
    return measured


@functools.cache
def empty_bytes(core: Path | None) -> float:
    """Return the memory that an empty run adds to the process."""
    return measure_file(EMPTY, {}, core)["peak_rss_bytes"]


def unpacked_core(wheel: Path, folder: str) -> Path:
    """Extract the simulator core from a wheel, and check that it runs on this machine."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            cores = [n for n in archive.namelist() if re.fullmatch(r"aqmlab/_core\.[^/]+", n)]
            if not cores:
                raise ValueError(f"{wheel} does not contain a simulator core (aqmlab/_core.*)")
            core = Path(archive.extract(cores[0], folder))
    except zipfile.BadZipFile as error:
        raise ValueError(
            f"{wheel} is not a wheel: {error}; give the .whl file that make wheel builds"
        ) from None
    try:
        empty_bytes(core)
    except ChildProcessError as error:
        raise OSError(
            f"the simulator core of {wheel} does not run on this machine; give a wheel of this "
            f"version for {platform.system()} on {platform.machine()} ({error})"
        ) from None
    return core


def pinned(command: list[str]) -> str:
    """Run a command on one core and return its output."""
    if not hasattr(os, "sched_setaffinity"):
        raise OSError("the benchmark needs Linux, because it runs each simulator on a fixed core")
    core = min(os.sched_getaffinity(0))
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),
    )
    if done.returncode:
        message = (done.stderr or done.stdout).strip() or f"exit status {done.returncode}"
        last = message.splitlines()[-1][:300]
        raise ChildProcessError(f"{Path(command[0]).name} failed: {last}")
    return done.stdout


def ns2(scenario: str, variant: str) -> Callable[[str], Measured]:
    """Return a function that measures a run of ns-2."""
    if not shutil.which("ns"):
        raise MissingPeerError("install it with: apt-get install ns2")
    script = [str(PEERS / "ns2_dumbbell.tcl"), f"sc={scenario}", *VARIANTS[variant]]

    def measure(_: str) -> Measured:
        text = pinned(["ns", *script])
        packets, cpu = number(text, "acked"), number(text, "cpu")
        return {
            "bottleneck_packets": packets,
            "hops": packets * 4.5,  # 3 hops per segment, 3 per ACK, 1 ACK per 2 segments
            "cpu_s": cpu,
            "wall_s": number(text, "run"),
            "peak_rss_bytes": added_bytes(text),
        }

    return measure


def ns3(scenario: str, variant: str) -> Callable[[str], Measured]:
    """Build the program for ns-3, and return a function that measures one run of it."""
    if not (shutil.which("g++") and Path("/usr/include/ns3").exists()):
        raise MissingPeerError("install it with: apt-get install g++ libns3-dev")
    program = BUILT / "ns3_dumbbell"
    source = PEERS / "ns3_dumbbell.cc"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        BUILT.mkdir(parents=True, exist_ok=True)
        parts = ["applications", "core", "internet", "network", "point-to-point", "traffic-control"]
        libraries = [f"-lns3-{part}" for part in parts]
        flags = ["-O2", "-DNS337", "-std=c++17"]
        pinned(["g++", *flags, str(source), "-o", str(program), *libraries])
    options = [f"--sc={scenario}", *(f"--{option}" for option in VARIANTS[variant])]

    def measure(_: str) -> Measured:
        text = pinned([str(program), *options])
        packets, cpu = number(text, "bpk"), number(text, "cpu")
        return {
            "bottleneck_packets": packets,
            "hops": number(text, "hops"),
            "cpu_s": cpu,
            "wall_s": number(text, "run"),
            "peak_rss_bytes": added_bytes(text),
        }

    return measure


def htsim(scenario: str) -> Callable[[str], Measured]:
    """Return a function that measures a run of htsim.

    htsim has no package, so the environment variable HTSIM names the folder with the headers and
    the library of htsim.
    """
    folder = Path(os.environ.get("HTSIM", ""))
    if not (folder.name and (folder / "libhtsim.a").exists()):
        source = "https://github.com/Broadcom/csg-htsim"
        raise MissingPeerError(
            "the environment variable HTSIM does not name a build of htsim; build libhtsim.a in "
            f"the folder sim of {source}, and set HTSIM to this folder"
        )
    if not shutil.which("g++"):
        raise MissingPeerError("building it needs a compiler; install it with: apt-get install g++")
    command = [str(htsim_program(folder)), f"sc={scenario}"]

    def measure(_: str) -> Measured:
        text = pinned(command)
        return {
            "bottleneck_packets": number(text, "bpk"),
            "hops": number(text, "hops"),
            "cpu_s": number(text, "cpu"),
            "wall_s": number(text, "run"),
            "peak_rss_bytes": added_bytes(text),
        }

    return measure


@functools.cache
def htsim_program(folder: Path) -> Path:
    """Build the program for htsim, once per process, because HTSIM may change between processes."""
    BUILT.mkdir(parents=True, exist_ok=True)
    program = BUILT / "htsim_dumbbell"
    source = str(PEERS / "htsim_dumbbell.cc")
    flags = ["-O3", "-std=c++11", "-w", f"-I{folder}"]
    pinned(["g++", *flags, source, "-o", str(program), str(folder / "libhtsim.a")])
    return program


LIMIT = {"S2": "100 100e6 1e9 1000 60 16", "S3": "1000 1000e6 1e10 5000 20 16"}
"""Arguments of the limit loop (benches/limit.rs): flows, rate, access rate, limit, seconds, window.
The limit loop is a Rust program that does only the work that every packet simulator must do. The
rates are in bit/s, the limit is in packets, and the window is in segments.
"""


def limit_loop(scenario: str) -> Callable[[str], Measured]:
    """Return a function that measures a run of the Rust program benches/limit.rs."""
    if not shutil.which("cargo"):
        raise MissingPeerError("install Rust")
    build = ["cargo", "bench", "-p", "lab", "--bench", "limit", "--no-run"]
    built = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    executable = re.search(r"Executable .*\((.*)\)", built.stderr)
    if not executable:
        raise MissingPeerError(built.stderr.strip()[-300:])
    command = [str(ROOT / executable[1]), *LIMIT[scenario].split()]

    def measure(_: str) -> Measured:
        out: Measured = json.loads(pinned(command))
        return out | {"wall_s": out["cpu_s"], "peak_rss_bytes": 0}

    return measure


def number(text: str, name: str, between: str = "=") -> float:
    """Return the number after ``name=`` in the output of a peer simulator."""
    match = re.search(rf"\b{re.escape(name)}{between}([0-9.e+-]+)", text)
    if not match:
        raise ChildProcessError(f"no {name} in: {text.strip()[-300:]}")
    return float(match[1])


def added_bytes(text: str) -> float:
    """Return the peak of a process (VmHWM) beyond its size before the run (VmRSS)."""
    peak, before = (number(text, f"{name}:", r"\s+") for name in ("VmHWM", "VmRSS"))
    return (peak - before) * 1024


RATE = "bottleneck_packets_per_cpu_s"
SPEED = re.compile(r"S\d+(-\w+)?")
"""Names of the scenarios in the table of speeds. The other ones are in the table of costs."""


def tables(rows: list[dict[str, Any]]) -> "list[Table]":
    """Return rows of :func:`benchmark` as tables for the terminal: speeds and costs."""
    speeds = [row for row in rows if SPEED.fullmatch(row["scenario"])]
    costs = [row for row in rows if not SPEED.fullmatch(row["scenario"])]
    shown = [speed_table(speeds)] if speeds else []
    return [*shown, cost_table(costs, rows)] if costs else shown


def speed_table(rows: list[dict[str, Any]]) -> "Table":
    """Return the packet rates of the scenarios as a table for the terminal.

    The column "ratio packets" is the median packet rate of aqmlab divided by the median packet rate
    of the simulator in the row. The column "ratio hops" is the corresponding ratio of the median
    hop rates. If the rows have a wheel, the ratios compare with the wheel instead of the build of
    the checkout.
    """
    heads = ["packets M/CPU-s", "min–max", "hops M/CPU-s", "CPU s", "wall s", "memory MB",
             "ratio packets", "ratio hops"]  # fmt: skip
    ours = {}
    for row in rows:  # The row of the wheel follows and replaces the row of the checkout.
        if row["simulator"] in ("aqmlab", "wheel"):
            ours[row["scenario"]] = row
    return by_scenario(heads, [(row, speed_cells(row, ours[row["scenario"]])) for row in rows])


def cost_table(rows: list[dict[str, Any]], plain: list[dict[str, Any]]) -> "Table":
    """Return the time per packet and the memory of the scenarios as a table for the terminal.

    The column "ratio" is the time per packet of a scenario with a series, e.g. S2+drops, divided by
    the time per packet of the scenario without the series, which is a row of `plain`.
    """
    heads = ["ns per packet", "min–max", "memory MB", "kB per flow", "ratio"]
    rates = {(row["scenario"], row["simulator"]): row[RATE] for row in plain}

    def ratio(row: dict[str, Any]) -> str:
        base, series, _ = row["scenario"].partition("+")
        rate = rates.get((base, row["simulator"]))
        return f"{rate / row[RATE]:.2f}" if series and rate else ""

    return by_scenario(heads, [(row, [*cost_cells(row), ratio(row)]) for row in rows])


def by_scenario(heads: list[str], lines: list[tuple[dict[str, Any], list[str]]]) -> "Table":
    """Return a table with a section per scenario, from rows and the texts of their cells."""
    from aqmlab import summary

    shown = summary.table("scenario", "simulator", *heads)
    shown.columns[1].justify = "left"
    for scenario, members in itertools.groupby(lines, lambda line: str(line[0]["scenario"])):
        if shown.rows:
            shown.add_section()
        for row, cells in members:
            shown.add_row(scenario, row["simulator"], *cells)
    return shown


def speed_cells(row: dict[str, Any], ours: dict[str, Any]) -> list[str]:
    """Return the texts of a row of speeds; the ratios compare `ours` with the row."""
    rates = (RATE, "hops_per_cpu_s")
    packets, hops = (f"{row[rate] / 1e6:.3f}" for rate in rates)
    ratios = [f"{ours[rate] / row[rate]:.2f}" for rate in rates] if row is not ours else ["", ""]
    spread = "–".join(f"{rate / 1e6:.3f}" for rate in row["spread"])
    seconds = [f"{row['cpu_s']:.3f}", f"{row['wall_s']:.3f}"]
    return [packets, spread, hops, *seconds, megabytes(row), *ratios]


def cost_cells(row: dict[str, Any]) -> list[str]:
    """Return the texts of a row of costs: time per packet, its range, and memory."""
    spread = "–".join(f"{1e9 / rate:.0f}" for rate in reversed(row["spread"]))
    per_flow = row["memory_per_flow_bytes"]
    kilobytes = "" if per_flow is None else f"{per_flow / 1e3:.1f}"
    return [f"{1e9 / row[RATE]:.0f}", spread, megabytes(row), kilobytes]


def megabytes(row: dict[str, Any]) -> str:
    """Return the text of the memory of a row; the limit loop does not measure its memory."""
    return f"{row['peak_rss_bytes'] / 1e6:.1f}" if row["peak_rss_bytes"] else ""


def child(path: str, changes: str, core: str | None = None) -> Measured:
    """Run a scenario in this process, and measure its speed and memory.

    Parameters
    ----------
    path : str
        Scenario file.
    changes : str
        The keys that differ from the file, as a JSON object of dotted paths and values.
    core : str, optional
        File of the simulator core; by default, the core of this package.
    """
    from aqmlab import _core as own
    from aqmlab.results import Packed, Result

    _core = load_core(core) if core else own
    before = memory_bytes("VmRSS")
    scenario = _core.check(Path(path).read_text(), "toml", list(json.loads(changes).items()))
    batch = _core.Batch([scenario], 1)
    finished = None
    while finished is None:
        finished = batch.next(3600.0)
    _, result = finished
    peak = memory_bytes("VmHWM")
    run = Result.of_packed(Packed(*result))
    links = dict(zip(run.links["link"], run.links["delivered_packets"].tolist(), strict=True))
    return {
        "bottleneck_packets": sum(n for link, n in links.items() if is_bottleneck(link)),
        "hops": sum(links.values()),
        "cpu_s": run.manifest["running"]["cpu_s"],
        "wall_s": run.manifest["running"]["wall_s"],
        "peak_rss_bytes": peak - before,
        "flows": sum(flow["count"] for flow in run.scenario["flows"]),
    }


def load_core(file: str) -> Any:
    """Return the simulator core in a file, beside the core of this package."""
    loader = ExtensionFileLoader("_core", file)
    core = module_from_spec(ModuleSpec("_core", loader, origin=file))
    loader.exec_module(core)
    return core


def memory_bytes(name: str) -> float:
    """Return the present (VmRSS) or maximum (VmHWM) memory size of this process, in bytes.

    The maximum that ``getrusage`` reports would be wrong, because on Linux it includes the memory
    of the parent process at the start of this process.
    """
    return number(Path("/proc/self/status").read_text(), f"{name}:", r"\s+") * 1024


def is_bottleneck(link: str) -> bool:
    """Return True for left>right of a dumbbell, and for r0>r1, r1>r2, … of a parking lot."""
    between = re.fullmatch(r"r(\d+)>r(\d+)", link)
    return link == BOTTLENECK or bool(between and int(between[1]) < int(between[2]))


if __name__ == "__main__":
    print(json.dumps(child(*sys.argv[1:])))
