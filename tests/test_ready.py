"""Tests of the ready scenarios: their names, their sources, their runs, and their page."""

import itertools
import re
import runpy
import shlex
import tomllib
from pathlib import Path

import pytest

import aqmlab
from aqmlab import manual, ready, studies
from aqmlab.command import execute
from aqmlab.comparison import compare
from aqmlab.comparison.comparison import SCENARIO
from aqmlab.comparison.plan import plan
from aqmlab.experiment import Experiment
from aqmlab.scenario import normalize

NAMES = ready.names()
LINKS = {"parking-lot": ["r0>r1", "r1>r2", "r2>r3"]}
"""Links of the scenarios whose network is not a dumbbell."""
PAGE = Path("docs/scenarios.md")


def test_a_name_is_a_scenario_wherever_a_path_is_one(tmp_path: Path) -> None:
    path = ready.FOLDER / "rfc7928.toml"
    assert normalize("rfc7928") == normalize(path) == normalize(Path("rfc7928"))
    assert aqmlab.Scenario.load("rfc7928") == aqmlab.Scenario.load(path)
    assert path == SCENARIO
    (tmp_path / "e.toml").write_text('scenario = "rfc7928"\n')
    assert Experiment.read(tmp_path / "e.toml").scenario == path


def test_a_file_precedes_a_ready_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dsl").mkdir()  # a folder is not a scenario
    assert ready.located("dsl") == ready.FOLDER / "dsl.toml"
    Path("dsl").rmdir()
    Path("dsl").write_text("")
    assert ready.located("dsl") == Path("dsl")
    assert ready.located(tmp_path / "dsl") == tmp_path / "dsl"
    Path("experiments").mkdir()
    assert ready.located("../dsl", Path("experiments")) == Path("experiments/../dsl")


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (["run", "DSLL"], "'DSLL' is neither a file nor a ready scenario; did you mean dsl?"),
        (["compare", "red", "--scenario", "qqq"], "the names are "),
        (["run", "missing.toml"], "missing.toml: the file does not exist"),
        (["run", "folder/missing"], "folder/missing: the file does not exist"),
        (["run", ""], ".: is a folder"),
        (["traffic", "qqq"], "'qqq' is neither a scenario nor a preset"),
        (["model", "qqq"], "qqq is neither a model nor a scenario"),
        (["run", "\x1b[31m"], r"'\x1b[31m' is neither"),
    ],
)
def test_an_unknown_name_is_an_error_in_one_line(
    command: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(command) == 2
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1


def test_list_and_explain_show_every_ready_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["list", "scenarios"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed if not line.startswith(" ")] == NAMES
    for name in NAMES:
        assert execute(["explain", name]) == 0
        page = capsys.readouterr().out
        assert ready.title(name) in page
        assert f"--scenario {name}" in page or name == "rfc7928"
        assert max(map(len, page.splitlines()[:-1])) <= 100


def test_the_names_differ_from_all_other_names() -> None:
    assert not {*NAMES} & {*manual.pages(), *studies.names()}
    for name in NAMES:
        with pytest.raises(ValueError, match="no page"):
            manual.find(name)


@pytest.mark.parametrize("name", NAMES)
def test_a_comparison_of_a_short_run_has_traffic(name: str) -> None:
    short = [("duration", "1 s" if name != "satellite-geo" else "3 s"), ("warm_up", "0 s")]
    links = LINKS.get(name, "bottleneck")
    compared = compare(["drop_tail", "fq_codel"], name, 1, link=links, overrides=short)
    for (run,) in compared.runs:
        busy = [value for name, value in run.measures.items() if name.startswith("utilization")]
        assert min(busy) > 0


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_a_whole_run_has_no_warning(name: str) -> None:
    assert aqmlab.run(name).warnings == []
    queues = ["drop_tail", "fq_codel"] if name != "l4s" else ["fq_codel", "dualpi2"]
    assert compare(queues, name, 1, link=LINKS.get(name, "bottleneck")).warnings == []


def test_every_source_of_a_scenario_is_in_the_bibliography() -> None:
    known = set(re.findall(r"@\w+\{([^,]+),", Path("references.bib").read_text("utf-8")))
    for name in NAMES:
        about = ready.description(name)
        cited = set(re.findall(r"\b(?:rfc\d+|[a-z]+(?:19|20)\d\d[a-z0-9]*)\b", about))
        assert cited, name
        assert cited <= known, name
        assert "Vary: " in about


def test_the_page_has_a_section_and_a_small_picture_of_each_scenario() -> None:
    page = PAGE.read_text("utf-8")
    assert re.findall(r"^## `(.+)`$", page, flags=re.M) == NAMES
    assert re.findall(r"^!\[.+\]\(scenarios/(.+)\.png\)$", page, flags=re.M) == NAMES
    pictures = list((PAGE.parent / "scenarios").iterdir())
    assert sorted(path.stem for path in pictures) == NAMES
    assert max(path.stat().st_size for path in pictures) < 60_000


def test_every_comparison_of_the_page_is_valid() -> None:
    blocks = re.findall(r"```sh\n(.+?)```", PAGE.read_text("utf-8"), flags=re.S)
    lines = "".join(blocks).replace("\\\n", "").splitlines()
    for line in lines:
        words = shlex.split(line, comments=True)
        options = [(a, b) for a, b in itertools.pairwise(words) if a.startswith("--")]
        changes = [tuple(b.split("=", 1)) for a, b in options if a == "--set"]
        if words[1] == "compare":
            queues = words[2 : words.index("--scenario")]
            links = [b for a, b in options if a == "--link"] or ["bottleneck"]
            plan(queues, dict(options)["--scenario"], 1, links, changes)  # type: ignore[arg-type]
        elif words[1] == "run":
            normalize(words[2], overrides=changes)  # type: ignore[arg-type]


def test_the_trace_of_the_cellular_scenario_is_that_of_its_script() -> None:
    trace = runpy.run_path("tools/cellular_trace.py")["trace"]()
    scenario = tomllib.loads((ready.FOLDER / "cellular.toml").read_text("utf-8"))
    assert scenario["network"]["rate_changes"]["opportunities"] == trace
