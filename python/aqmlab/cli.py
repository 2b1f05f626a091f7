"""The command ``aqmlab``.

Heavy libraries are imported inside the commands that use them, so that help is there at once.
Whatever goes wrong is told in one line on stderr: exit code 2 for wrong input, 130 for Ctrl-C (128
and the number of the signal), 1 for a defect of aqmlab.
"""

import errno
import os
import signal
import sys
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from aqmlab._core import InvariantViolation
from aqmlab.words import shortened, visible

if TYPE_CHECKING:
    from rich.console import Console

WRONG_INPUT = 2
INTERRUPTED = 130
DEFECT = 1
FAILED = 1
PIPE_CLOSED = 141

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def aqmlab(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """A packet-level laboratory for bottleneck queues: RED, ECN and TCP."""
    if version:
        from aqmlab import __version__

        typer.echo(f"aqmlab {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


WarningsOption = Annotated[
    bool,
    typer.Option("--warnings/--no-warnings", help="Tell what is legal and probably not meant."),
]


@app.command("run")
def run_command(
    file: Annotated[Path, typer.Argument(help="A scenario, TOML or JSON.", metavar="FILE")],
    seed: Annotated[
        str | None, typer.Option(help="Seed of every random stream.", metavar="N")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder to make for manifest and tables.", metavar="DIR")
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a key, e.g. network.queue.limit='64 packets'; may be given again.",
        ),
    ] = None,
    pcap: Annotated[
        Path | None, typer.Option(help="Folder to make for captures, in pcapng.", metavar="DIR")
    ] = None,
    pcap_on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Capture this link (from>to) or host; may be given again."
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an earlier run in the folder.")
    ] = False,
    warnings: WarningsOption = True,
) -> None:
    """Run a scenario and show its flows and links. Files are written with --out and --pcap."""
    import json

    from aqmlab.experiment import run
    from aqmlab.progress import Bar
    from aqmlab.results import new_folders
    from aqmlab.scenario import normalize, toml_value
    from aqmlab.summary import show

    overrides = [_change(change) for change in changes or []]
    overrides += [("seed", seed)] if seed is not None else []
    overrides += [("record.pcap.on", toml_value(pcap_on))] if pcap_on else []
    scenario = json.loads(normalize(file, overrides=overrides))
    if pcap and not scenario["record"]["pcap"]["on"]:
        raise ValueError(
            "--pcap needs to know where: name links and hosts, e.g. --pcap-on 'left>right'"
        )
    if pcap_on and not pcap:
        raise ValueError("--pcap-on needs a folder for the captures: --pcap DIR")
    with new_folders(out, pcap, force=force) as (folder, captures):
        with Bar() as bar:
            result = run(scenario, pcap=captures, progress=bar)
        if folder:
            result.write_files(folder)
    show(result, _console())
    _warn(result.warnings if warnings else [])
    _say(f"Written to {out}" if out else "Nothing is written without --out DIR.")
    if pcap:
        _say(f"Captures written to {pcap}")
    elif scenario["record"]["pcap"]["on"]:
        _say("Captures are written only with --pcap DIR.")


class Graph(StrEnum):
    """What `aqmlab plot` draws of a flow."""

    SEQUENCE = "sequence"
    WINDOW = "window"
    RTT = "rtt"


@app.command()
def plot(
    graph: Annotated[Graph, typer.Argument(help="What to draw of a flow.", show_choices=True)],
    source: Annotated[
        Path,
        typer.Argument(
            metavar="RUN", help="Folder of a run that recorded what is drawn, or a scenario to run."
        ),
    ],
    flow: Annotated[
        str | None,
        typer.Option(metavar="N", help="Name of the flow, or its number; default: the first."),
    ] = None,
    begin: Annotated[
        float | None, typer.Option("--from", metavar="S", help="Draw from this time (s).")
    ] = None,
    end: Annotated[
        float | None, typer.Option("--to", metavar="S", help="Draw up to this time (s).")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File to write (.png, .svg, .pdf); default GRAPH.png."),
    ] = None,
) -> None:
    """Draw a flow: its segments and ACKs over time, its windows, or its round trips."""
    from aqmlab import figures
    from aqmlab.figures import segments

    path = out or Path(f"{graph.value}.png")
    if path.suffix.lower() not in figures.FORMATS:
        raise ValueError(f"--out {path} must end in one of {', '.join(figures.FORMATS)}")
    figures.refuse_foreign(path)
    result = segments.load(source, graph.value)
    name = segments.flow_name(result, flow)
    times = (begin, end)
    figure = {
        Graph.SEQUENCE: figures.sequence,
        Graph.WINDOW: figures.windows,
        Graph.RTT: figures.rtt,
    }[graph](result, name, times)
    _say(f"Written to {figures.save(figure, path)}")


@app.command()
def reproduce(
    study: Annotated[str, typer.Argument(help="A study that `aqmlab list studies` names.")],
    items: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this table or figure, e.g. table-2; more may follow.", metavar="ITEM"
        ),
    ] = None,
    replications: Annotated[
        str | None,
        typer.Option(help="Replications of each setting; default: the study's.", metavar="N"),
    ] = None,
    jobs: Annotated[
        str | None, typer.Option(help="Runs at a time; default: the cores.", metavar="N")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder to make; default results/STUDY.", metavar="DIR")
    ] = None,
) -> None:
    """Reproduce a published study: cells, claims and figures in one HTML report."""
    from aqmlab import studies

    chosen = studies.load(study)
    if items and not only:
        raise ValueError(f"{items[0]!r} is one argument too many; name items after --only")
    wanted = [*(only or []), *(items or [])]
    runs, threads = _count("--replications", replications), _count("--jobs", jobs)
    report = chosen.reproduce(wanted, runs, threads, out, _console())
    _say(str(report))


@app.command("compare")
def compare_command(
    queues: Annotated[
        list[str],
        typer.Argument(
            help="Kinds of queues, each with the keys that differ from their defaults, and a name "
            "if wanted: drop_tail codel 'gentle=red:minth=5 packets,maxth=15 packets'.",
            metavar="QUEUES...",
        ),
    ],
    scenario: Annotated[
        Path | None,
        typer.Option(help="Traffic and network; default: RFC 7928's bottleneck.", metavar="FILE"),
    ] = None,
    link: Annotated[
        list[str] | None,
        typer.Option(
            help="The link whose queue is compared; given again, all of them get it. "
            "Default: the bottleneck of a dumbbell.",
            metavar="FROM>TO",
        ),
    ] = None,
    warm_up: Annotated[
        str | None,
        typer.Option(
            help="Leave this time out at the start of each run, e.g. '5 s': from counts, delays "
            "and goodputs; transfers count that began later. Figures of the queue show all.",
            metavar="TIME",
        ),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the scenario."),
    ] = None,
    ecn: Annotated[bool, typer.Option("--ecn", help="Let every flow use ECN (RFC 3168).")] = False,
    replications: Annotated[
        str, typer.Option(help="Runs of each queue, each with its seed.", metavar="N")
    ] = "10",
    seed: Annotated[str | None, typer.Option(help="The first seed.", metavar="N")] = None,
    jobs: Annotated[
        str | None, typer.Option(help="Runs at a time; default: the cores.", metavar="N")
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Folder to make; default results/compare.", metavar="DIR")
    ] = Path("results/compare"),
    warnings: WarningsOption = True,
) -> None:
    """Compare queues under the same traffic: a table, figures, and a page with both."""
    from aqmlab.compare import comparison, output, show
    from aqmlab.progress import Bar

    overrides = [_change(change) for change in changes or []]
    overrides += [("tcp.ecn", "rfc3168")] if ecn else []
    overrides += [("seed", seed)] if seed is not None else []
    count, threads = _count("--replications", replications) or 1, _count("--jobs", jobs)
    file = scenario or comparison.SCENARIO
    with output.place(out) as claim:
        kept = output.store(claim)
        try:
            with Bar() as bar:
                done = comparison.compare(
                    queues, file, count, threads, bar,
                    link=link or ["bottleneck"], warm_up=warm_up, overrides=overrides, store=kept,
                )  # fmt: skip
            page = output.write(done, claim)
        except KeyboardInterrupt:
            if not kept.finished:
                raise
            told = f"{kept.finished} finished runs are in {kept.folder} and will be used"
            raise Interrupted(told) from None
    show.show(done, _console())
    _warn(done.warnings if warnings else [])
    _say(str(page))


class Interrupted(Exception):  # noqa: N818
    """Ctrl-C or another signal to end, with what is left."""


@app.command("script")
def script_command(
    files: Annotated[
        list[Path], typer.Argument(help="Packet scripts, or folders with *.pkt in them.")
    ],
    preset: Annotated[
        str, typer.Option(help="Parameters of TCP to begin with: linux or rfc.", metavar="NAME")
    ] = "linux",
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a parameter of TCP, e.g. congestion=reno; may be given again.",
        ),
    ] = None,
    tolerance: Annotated[
        str | None,
        typer.Option(
            help="How far times may be off, unless a script says; default 4 ms.", metavar="TIME"
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the outcomes as JSON, one object a script.")
    ] = False,
) -> int:
    """Run packet scripts (packetdrill's language) against the TCP endpoint, in virtual time."""
    import json

    from aqmlab import script

    outcomes = []
    options = {
        "preset": preset,
        "changes": [_change(change, "congestion=reno") for change in changes or []],
        "tolerance": tolerance,
    }
    for outcome in script.run_files(script.find(files), **options):
        outcomes.append(outcome)
        if not as_json:
            _say(script.describe(outcome))
    if as_json:
        typer.echo(json.dumps([outcome.as_dict() for outcome in outcomes], indent=1))
    else:
        typer.echo(script.summary(outcomes))
    return FAILED if any(outcome.verdict == script.FAILED for outcome in outcomes) else 0


@app.command()
def bench(
    scenarios: Annotated[
        list[str] | None,
        typer.Argument(help="Scenarios of the benchmark, e.g. S1 S2; default: all."),
    ] = None,
    peers: Annotated[
        bool, typer.Option("--peers", help="Also run ns-2, ns-3 and the limit loop, if installed.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the figures as JSON, one object a row.")
    ] = False,
    runs: Annotated[str, typer.Option(help="Runs of each; medians are shown.", metavar="N")] = "5",
    by_variant: Annotated[
        bool, typer.Option("--variants", help="Count what options and variants of TCP cost, only.")
    ] = False,
) -> None:
    """Measure the simulator's speed, in a checkout; docs/benchmark.md says how."""
    import json

    from aqmlab import variants
    from aqmlab.bench import benchmark, table
    from aqmlab.progress import Bar

    def tell(message: str) -> None:
        typer.echo(f"aqmlab: {message}", err=True)

    count = _count("--runs", runs) or 1
    with Bar() as bar:
        if by_variant:
            rows = list(variants.costs(bar))
        else:
            rows = list(benchmark(scenarios or [], count, peers, tell, bar))
    if as_json:
        typer.echo(json.dumps(rows, indent=1))
    else:
        _console().print(variants.table(rows) if by_variant else table(rows))


@app.command("list")
def list_command(
    category: Annotated[
        str, typer.Argument(help="queues, tcp, traffic, network, scenario or studies.")
    ],
) -> None:
    """List what a scenario can name, and the studies."""
    from aqmlab.explain import listing

    typer.echo(listing(category))


@app.command()
def explain(
    name: Annotated[str, typer.Argument(help="E.g. red, tcp, minth, red.minth, or a study.")],
) -> None:
    """Explain a name: what it is, and each parameter with unit, default, range and source."""
    from aqmlab.explain import explanation

    typer.echo(explanation(name))


@app.command()
def schema() -> None:
    """Print the JSON Schema of a scenario."""
    import json

    from aqmlab import manual

    typer.echo(json.dumps(manual.schema(), indent=1, ensure_ascii=False))


def _change(change: str, example: str = "network.queue.limit='64 packets'") -> tuple[str, str]:
    key, equals, value = change.partition("=")
    if not equals or not key.strip() or not value.strip():
        raise ValueError(f"--set {change!r} must be KEY=VALUE, for example {example}")
    return key.strip(), value.strip()


def _warn(texts: list[str]) -> None:
    """Tell on stderr what is legal and probably not meant."""
    with suppress(OSError):
        for text in texts:
            typer.echo(f"warning: {visible(text)}", err=True)


def _count(option: str, text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{option} {text!r} must be a whole number, 1 or more")
    return int(text)


def _console() -> "Console":
    from rich.console import Console

    # A file or a pipe has no width that a table should be cut to.
    return Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=160)


def _say(text: str) -> None:
    """Print a text, its control characters spelled out."""
    typer.echo("\n".join(map(visible, text.split("\n"))))


def execute(args: list[str]) -> int:
    """Run the command with these arguments; return the exit code."""
    command = typer.main.get_command(app)
    try:
        status = command.main(args, prog_name="aqmlab", standalone_mode=False)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _interrupted()
    except Interrupted as e:
        return _interrupted(str(e))
    except InvariantViolation as e:
        told = "the simulator contradicts itself, please report it"
        return _complain(f"{told}: {e}, in aqmlab {' '.join(args)}", DEFECT)
    except typer.TyperException as e:
        return _complain(f"{e.format_message()} See aqmlab --help.", WRONG_INPUT)
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except OSError as e:
        return _complain(_os_error(e), WRONG_INPUT)
    except ValueError as e:
        return _complain(str(e), WRONG_INPUT)
    except MemoryError as e:
        return _complain(str(e) or "there is not enough memory; ask for less", WRONG_INPUT)
    except SystemExit:
        raise
    except BaseException as e:  # a panic of the simulator is no Exception
        if os.environ.get("AQMLAB_TRACEBACK"):
            raise
        what = f"{type(e).__name__}: {e}"
        of = f" of {' '.join(args)}" if args else ""
        return _complain(
            f"a defect of aqmlab, please report it: {what}{of} (AQMLAB_TRACEBACK=1 shows where)",
            DEFECT,
        )
    return _interrupted() if status == INTERRUPTED else int(status or 0)


def _interrupted(left: str | None = None) -> int:
    """Tell what is left by an interruption; return 128 and the number of its signal."""
    from aqmlab import folder, interrupts

    there = ", ".join(map(str, folder.written))
    left = left or (f"{there} was written before" if there else "nothing was written")
    code = 128 + (interrupts.came or signal.SIGINT)
    return _complain(f"interrupted; {left}", code)


def _os_error(e: OSError) -> str:
    if e.filename is None and e.errno == errno.ENOENT:
        return "the current folder is gone; change to one that is there"
    if e.filename is None and e.errno in (errno.ENOSPC, errno.EIO, errno.EBADF):
        return f"what is printed cannot be written: {(e.strerror or '').lower()}"
    if e.filename is None or e.strerror is None:
        return str(e)
    if isinstance(e, FileNotFoundError):
        return f"{e.filename}: there is no such file; check the path"
    if isinstance(e, IsADirectoryError):
        return f"{e.filename}: is a folder; give the path of a scenario file"
    return f"{e.filename}: {e.strerror.lower()}; check the path and its permissions"


def _complain(message: str, code: int) -> int:
    told = visible(shortened(" ".join(message.split())))
    with suppress(OSError):
        typer.echo(f"aqmlab: error: {told}", err=True)
    return code


def main() -> NoReturn:
    """Run the command of this process."""
    from aqmlab import folder, interrupts

    interrupts.listen()
    code = 0
    try:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")
        code = execute(sys.argv[1:]) if _open_streams() else WRONG_INPUT
        code = _flushed(code)
    except KeyboardInterrupt:
        code = _interrupted()
    except SystemExit as e:
        code = int(e.code or 0)
    interrupts.ignore()
    folder.release_all()
    sys.exit(code)


def _open_streams() -> bool:
    """Whether there is a standard output; no file that is opened later may have its number."""
    missing = [n for n, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)) if stream is None]
    while missing and os.open(os.devnull, os.O_RDWR) < max(missing):
        pass
    if 2 in missing:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if 1 in missing:
        _complain("standard output is closed; give it a file, or /dev/null", WRONG_INPUT)
    return 1 not in missing


def _flushed(code: int) -> int:
    """Write what is still to be printed, as the interpreter would do without telling well."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as e:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return code or _complain(_os_error(e), WRONG_INPUT)
    return code
