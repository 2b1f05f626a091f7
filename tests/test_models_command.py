"""Tests of the output, the figures and the errors of `aqmlab model`."""

import re
from pathlib import Path

import numpy as np
import pytest

import aqmlab
from aqmlab.command import execute
from aqmlab.figures import models as figures
from aqmlab.figures import save
from aqmlab.models import power_of_ecn
from aqmlab.models.batch_queue import Batches, MxD1, MxM1
from aqmlab.models.fluid.controllers import pie
from aqmlab.models.fluid.design import pi_of
from aqmlab.models.fluid.margins import Loop
from aqmlab.models.fluid.network import Network
from aqmlab.models.fluid.over_time import over_time
from conftest import ROOT

POISSON = """
duration = "20 s"
[network]
kind = "graph"
links = [{ from = "a", to = "b", rate = "8 Mbit/s", delay = "1 ms" }]
[[flows]]
from = "a"
to = "b"
traffic = { kind = "poisson", rate = "5 Mbit/s" }
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "poisson.toml"
    path.write_text(POISSON)
    return path


def test_a_scenario_is_run_and_compared_with_its_models(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plot = tmp_path / "delays.png"
    assert execute(["model", str(file), "--seed", "2", "--plot", str(plot)]) == 0
    printed = capsys.readouterr().out
    assert "Models compared with the run: a>b" in printed
    assert "│ M/D/1 │ a>b │ load" in printed
    assert "Poisson arrivals at the queue" in printed
    assert plot.stat().st_size > 5000
    assert execute(["model", "compare", str(file), "--set", "flows.0.traffic.rate='2 Mbit/s'"]) == 0
    assert "25" in capsys.readouterr().out


def test_a_warm_up_is_excluded_from_the_measurements(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plot = tmp_path / "delays.png"
    args = ["model", str(file), "--warm-up", "5 s", "--plot", str(plot)]
    assert execute(args) == 0
    printed = capsys.readouterr().out
    assert "Models compared with the run: a>b, after 5 s" in printed
    assert plot.stat().st_size > 5000
    assert execute(["model", str(file)]) == 0
    assert printed.splitlines()[1:] != capsys.readouterr().out.splitlines()[1:]
    assert execute(["model", str(file), "--warm-up", "20 s"]) == 2
    assert 'warm_up: "20 s" must be shorter than the run' in capsys.readouterr().err


def test_an_existing_run_is_compared(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    series = "record.series=['delays']"
    assert execute(["run", str(file), "--set", series, "--out", str(run)]) == 0
    assert execute(["model", "--run", str(run)]) == 0
    assert "mean wait" in capsys.readouterr().out


def test_a_run_without_applicable_models_is_reported(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["model", str(file), "--set", "network.links.0.queue={kind='codel'}"]) == 0
    printed = capsys.readouterr().out
    assert "No model applies to this run." in printed
    assert "of kind drop_tail, not codel" in printed


@pytest.mark.parametrize(
    ("words", "output"),
    [
        ("batch-queue --batches 1:1,2:1,4:1", "│        8 │      6.4 │ packets │"),
        ("batch-queue --flows 7 --delay|2 ms", "P(a burst waits longer than 2 ms)"),
        ("queue --load 0.8 --service|2 ms", "│ M/M/1    │                     4 │              8"),
        ("tcp --p 0.01 --rtt|100 ms", "│ square-root law (Reno) │              8.66 │"),
        ("dctcp --flows 2 --rate|1 Gbit/s --rtt|1 ms --threshold 20", "11.52 │ packets"),
        ("short-flow --segments 40 --rtt|100 ms", "│ duration without loss "),
        ("loop red --flows 60 --rate|15 Mbit/s --packet 500 --rtt|200 ms --parameter minth=150 "
         "--parameter maxth=700 --parameter wq=1e-6", "red, 60 flows: stable"),
        ("loop pie --flows 30 --rate|10 Mbit/s --packet 1000 --rtt|300 ms", "30 flows: unstable"),
        ("loop pi --flows 60 --rate|15 Mbit/s --packet 500 --rtt|200 ms --parameter a=1.822e-5 "
         "--parameter b=1.816e-5", "pi, 60 flows: stable"),
        ("figure-7", "│ growth 1.5, constant service, work before a burst            │    5.01"),
    ],
)  # fmt: skip
def test_models_print_their_numbers(
    words: str, output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    args = [a for w in words.replace("|", "=").split(" --") for a in _split(w)]
    assert execute(["model", *args]) == 0, capsys.readouterr().err
    assert output in capsys.readouterr().out


def _split(words: str) -> list[str]:
    """Split a command line into words; a value and its unit remain one word."""
    first, equals, value = words.partition("=")
    if equals and not words.startswith("parameter "):
        return [f"--{first}={value}"] if " " not in first else [*first.split(), value]
    name, *rest = words.split()
    return [name, *rest] if name in ("batch-queue", "queue", "tcp", "dctcp", "short-flow",
                                     "loop", "figure-7") else [f"--{name}", *rest]  # fmt: skip


def test_flow_sizes_may_come_from_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = tmp_path / "sizes.txt"
    sizes.write_text("7000\n7000\n")
    assert execute(["model", "batch-queue", "--sizes", str(sizes)]) == 0
    assert "mean burst 2.333 packets" in capsys.readouterr().out
    requests = tmp_path / "requests-0.csv"
    requests.write_text("user,at_s,request_bytes,response_bytes\n0,0.1,300,7000\n1,0.2,1,7000\n")
    assert execute(["model", "batch-queue", "--sizes", str(requests)]) == 0
    assert "mean burst 2.333 packets" in capsys.readouterr().out
    sizes.write_text("7000\nseven\n")
    assert execute(["model", "batch-queue", "--sizes", str(sizes)]) == 2
    assert "is not a list of flow sizes; give a file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["bach-queue"], "bach-queue is neither a model nor a scenario; aqmlab model"),
        (["none.toml"], "none.toml: the file does not exist"),
        (["--run", "x", "y.toml"], "give either a scenario to run, or the folder of a"),
        (["--run", "x", "--seed", "1"], "--run excludes --seed, --set, --warm-up and"),
        (["batch-queue"], "one of the options --flows, --sizes and --batches; all are absent"),
        (["batch-queue", "--flows", "7:x"], "--flows '7:x' is not a size with a weight"),
        (["batch-queue", "--flows", "7", "--load", "1"], "load is 1; it must be above 0 and"),
        (["batch-queue", "--flows", "7", "--rate", "5"], "--rate is '5'; it must be a rate"),
        (["batch-queue", "--flows", "7", "--packet", "0"], "--packet"),
        (["tcp", "--p", "0.1", "--rtt", "-1 ms"], "--rtt is '-1 ms'; it must be a time above 0"),
        (["tcp", "--p", "2", "--rtt", "1 ms"], "p is 2; it must be above 0 and below 1"),
        (["loop", "sfq", "--flows", "1", "--rate", "1 Mbit/s", "--rtt", "1 s"],
         "'sfq'; it must be one of red, pi, pie, pi2"),
        (["loop", "red", "--flows", "9", "--rate", "1 Mbit/s", "--rtt", "1 s",
          "--parameter", "x=1"],
         "--parameter x: red has no parameter of this name"),
        (["loop", "pi", "--flows", "9", "--rate", "1 Mbit/s", "--rtt", "1 s", "--step", "3"],
         "--step needs --step-plot"),
        (["batch-queue", "--flows", "7", "--plot", "x.txt"], "--plot x.txt is not an image file"),
    ],
)  # fmt: skip
def test_an_error_is_one_line(
    args: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert execute(["model", *args]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_the_command_draws_a_loop(tmp_path: Path) -> None:
    plots = [tmp_path / "bode.svg", tmp_path / "step.png"]
    words = ["--flows", "60", "--rate", "15 Mbit/s", "--packet", "500", "--rtt", "200 ms"]
    code = execute(["model", "loop", "pi", *words, "--plot", str(plots[0]),
                    "--step-plot", str(plots[1]), "--step", "90"])  # fmt: skip
    assert code == 0
    assert all(plot.stat().st_size > 5000 for plot in plots)


def test_figures_show_the_values_of_the_models(tmp_path: Path) -> None:
    network = Network(60, 3750, 0.2, 175)
    loops = {"PI": Loop(network, pi_of(network)), "PIE": Loop(network, pie(0.05))}
    figures_drawn = [figures.bode(loops)]
    phase = figures_drawn[0].axes[1]
    assert phase.get_ylim() == (-360, 0)
    pi_label, pie_label = (t.get_text() for t in figures_drawn[0].legends[0].get_texts())
    assert pi_label.startswith("PI: phase margin 75°, gain margin ×")
    assert pie_label.startswith("PIE: phase margin -40°")
    figures_drawn.append(figures.courses({"PI": over_time(network, loops["PI"].controller, 5)}))
    queues = {"M": MxM1(0.8, Batches.of({1: 1, 4: 1})), "D": MxD1(0.8, Batches.of({1: 1, 4: 1}))}
    figures_drawn.append(figures.delays(queues, {"measured": ([1.0, 3.0], [2, 2])}))
    lines = {line.get_label(): line for line in figures_drawn[-1].axes[0].get_lines()}
    assert np.asarray(lines["measured"].get_ydata()).tolist() == [0.5]
    first = np.asarray(lines["M"].get_ydata())
    assert first[0] == pytest.approx(queues["M"].wait_exceeds(0))
    sizes = [1, 2, 6, 7]
    means = power_of_ecn.mean_by_flow_size(sizes)
    points = {"stated": ([7.0], [5.0], [4.0], [6.0]), "other": ([7.0], [5.0], [4.5], [5.5])}
    figures_drawn.append(figures.figure_7({"stated": (sizes, means.tolist())}, points))
    texts = [t.get_text() for t in figures_drawn[-1].legends[0].get_texts()]
    assert texts == ["stated", "stated, simulated", "other, simulated"]
    loads = [0.5, 0.9]
    late = power_of_ecn.late_by_load(Batches.of({2: 1}), loads, 100e6).tolist()
    for draw, traffic in ((figures.figure_8, "web"), (figures.figure_9, "general")):
        figures_drawn.append(draw({"100 Mbit/s": (loads, late)}))
        assert traffic in figures_drawn[-1].axes[0].get_xlabel()
    for i, figure in enumerate(figures_drawn):
        assert save(figure, tmp_path / f"{i}.png").stat().st_size > 5000


def test_the_package_exports_the_models() -> None:
    assert aqmlab.models.__doc__


def test_the_python_code_of_the_guide_prints_the_shown_output(
    capsys: pytest.CaptureFixture[str],
) -> None:
    guide = (ROOT / "docs" / "how-to" / "models.md").read_text("utf-8")
    blocks = dict(re.findall(r"```(python|text)\n(.*?)```", guide, flags=re.DOTALL))
    exec(blocks["python"], {})
    assert capsys.readouterr().out == blocks["text"], "copy the output to the guide"
