"""Tests of the series ``why`` and ``why_cwnd``, and of the command ``aqmlab why``."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aqmlab
from aqmlab import manual
from aqmlab.command import execute
from test_docs import blocks

SERIES = ["why", "why_cwnd"]


def recorded(small: dict[str, Any], queue: Any = None) -> dict[str, Any]:
    """Return the small scenario with both series, and with another queue if one is given."""
    small["record"] = {"series": [*SERIES, "drops", "marks"]}
    if queue is not None:
        small["network"]["queue"] = queue
    return small


def test_each_drop_and_mark_has_a_row_with_the_variables_of_its_queue(
    small: dict[str, Any], tmp_path: Path
) -> None:
    result = aqmlab.run(recorded(small))
    why = result.series("why")
    assert len(why) == len(result.series("drops")) + len(result.series("marks")) > 0
    fixed = [column.name for column in manual.columns()["why"]]
    pages = manual.pages()
    variables = [v.name for page in ("drop_tail", "red") for v in pages[page].variables]
    assert list(why.columns) == fixed + variables
    signals = why[why["rule"] == "random"]
    assert len(signals) >= 5
    assert (signals["random"] < signals["p_a"]).all()
    assert (signals["avg"] >= 4).all()
    full = why[why["rule"] == "buffer-full"]
    assert (full["queue_packets"] == full["limit_packets"]).all()
    assert full["random"].isna().all()
    written = aqmlab.Result.read(result.write(tmp_path / "run")).series("why")
    assert written.astype(str).equals(why.astype(str))


def test_the_sum_of_the_changes_is_the_window(small: dict[str, Any]) -> None:
    small = recorded(small)
    small["record"]["series"].append("window")
    result = aqmlab.run(small | {"duration": "2 s"})
    window, changes = result.series("window"), result.series("why_cwnd")
    for flow in ("C0", "C1"):
        last = window[window["flow"] == flow].iloc[-1]
        own = changes[(changes["flow"] == flow) & (changes["reply"] == 0)]
        own = own[own["time_s"] <= last["time_s"]]
        total = (own["cwnd_after_bytes"] - own["cwnd_before_bytes"]).sum()
        np.testing.assert_allclose(total, last["cwnd_bytes"], rtol=1e-6)
        assert own["rule"].iloc[0] == "initial-window"


def test_a_queue_in_python_has_the_general_rules(small: dict[str, Any]) -> None:
    class Every(aqmlab.CustomQueue):
        def on_arrival(self, _: aqmlab.Packet, at: aqmlab.Arrival) -> aqmlab.Verdict:
            return aqmlab.signal("early") if at.packets > 5 else aqmlab.PASS

    why = aqmlab.run(recorded(small), queues={"left>right": Every()}).series("why")
    assert set(why["rule"]) == {"early", "buffer-full"}
    assert (why["queue_packets"] > 5).all()
    assert list(why.columns)[-1] == "limit_bytes"


class Reasoned(aqmlab.CustomQueue):
    """AQM with an average queue length that gives its reasons."""

    avg = 0.0

    def on_arrival(self, _: aqmlab.Packet, at: aqmlab.Arrival) -> aqmlab.Verdict:
        self.avg += 0.1 * (at.packets - self.avg)
        if self.avg >= 6:
            return aqmlab.drop("threshold", rule="above-maxth", avg=self.avg)
        u, p = self.place.uniform(), self.avg / 20
        if u >= p:
            return aqmlab.PASS
        return aqmlab.signal(rule="random", source="test §1", avg=self.avg, u=u, p=p)


def test_a_queue_in_python_gives_its_reasons(small: dict[str, Any], tmp_path: Path) -> None:
    small = recorded(small)
    small["network"]["queue"] = {"kind": "drop_tail", "limit": "9 packets"}
    small["flows"][0]["traffic"]["size"] = "300 kB"
    result = aqmlab.run(small, queues={"left>right": Reasoned()})
    why = result.series("why")
    assert set(why["rule"]) == {"above-maxth", "random", "buffer-full"}
    assert list(why.columns)[-4:] == ["limit_bytes", "avg", "u", "p"]
    random, above = why[why["rule"] == "random"], why[why["rule"] == "above-maxth"]
    assert (random["u"] < random["p"]).all()
    np.testing.assert_allclose(random["p"], random["avg"] / 20)
    assert set(random["source"]) == {"test §1"}
    assert set(random["reason"]) == {"early"}
    assert set(above["reason"]) == {"threshold"}
    assert (above["avg"] >= 6).all()
    assert above[["u", "p"]].isna().all(axis=None)
    assert why[why["rule"] == "buffer-full"][["avg", "u", "p"]].isna().all(axis=None)
    written = aqmlab.Result.read(result.write(tmp_path / "run")).series("why")
    assert written.astype(str).equals(why.astype(str))
    small["record"]["series"] = ["drops", "marks"]
    without = aqmlab.run(small, queues={"left>right": Reasoned()})
    assert without.series("drops").equals(result.series("drops"))


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        ({"rule": "Above maxth"}, 'rule = "Above maxth" must have only lowercase letters'),
        ({"rule": ""}, 'rule = "" must have only lowercase letters'),
        ({"rule": 1}, "not an instance of 'str'"),
        ({"source": "rfc2309"}, 'source = "rfc2309" requires a rule'),
        ({"rule": "a", "source": "a\nb"}, "must be one line of text"),
        ({"avg": "high"}, "avg = 'high' must be a number"),
        ({"avg": None}, "avg = None must be a number"),
        ({"Avg": 1.0}, 'the variable "Avg" must have only lowercase letters'),
        ({"flow": 1.0}, 'the variable "flow" is already a column of the series why'),
        ({"queue_bytes": 1.0}, 'the variable "queue_bytes" is already a column'),
        ({"why": "late", "avg": 1.0}, 'why = "late" must be "early" or "threshold"'),
    ],
)
def test_a_wrong_reason_is_refused(reason: dict[str, Any], message: str) -> None:
    for verdict in (aqmlab.signal, aqmlab.drop):
        with pytest.raises((ValueError, TypeError), match=re.escape(message)):
            verdict(**reason)


def test_a_verdict_shows_its_reason_and_equals_a_verdict_with_the_same_reason() -> None:
    verdict = aqmlab.drop(rule="random", source="s §1", p=0.5)
    assert repr(verdict) == 'drop("early", rule="random", source="s §1", p=0.5)'
    assert verdict == aqmlab.drop("early", rule="random", source="s §1", p=0.5)
    assert verdict != aqmlab.drop("early", rule="random", p=0.5)
    assert repr(aqmlab.signal("threshold")) == 'signal("threshold")'


def test_names_that_change_are_refused() -> None:
    code = 'import aqmlab\nfor i in range(1001):\n    aqmlab.signal(rule=f"rule-{i}")'
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "ValueError: the AQMs have more than 1000 rules; use fixed names" in done.stderr


def test_every_rule_and_variable_has_a_meaning_and_a_known_source() -> None:
    keys = set(re.findall(r"@\w+\{([^,]+),", Path("references.bib").read_text("utf-8")))
    seen = 0
    for page in manual.pages().values():
        assert len({rule.name for rule in page.rules}) == len(page.rules), page.name
        entries: list[manual.Rule | manual.Variable] = [*page.rules, *page.variables]
        for entry in entries:
            seen += 1
            assert entry.meaning.endswith("."), (page.name, entry)
            for source in entry.source.split("; "):
                key = re.match(r"(rfc\d+|[a-z][a-z-]*\d{4}\w*|draft-[a-z0-9-]+)\b", source)
                assert key is None or key[1] in keys, (page.name, entry)
    assert seen > 200


def test_the_command_shows_rules_variables_and_windows(
    small: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "small.json"
    file.write_text(json.dumps(small))
    assert execute(["why", str(file), "--flow", "C0", "--link", "left>right", "--rows", "3"]) == 0
    out = capsys.readouterr().out
    for text in (
        "Drops and marks: ",
        "floyd1993red fig. 2",
        "queue_packets",
        "slow-start",
        "The first 3",
    ):
        assert text in out
    assert "C1" not in out
    folder = aqmlab.run(recorded(small)).write(tmp_path / "run")
    assert execute(["why", str(folder)]) == 0
    assert "C1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--flow", "C9"], "--flow: 'C9' is not a flow of this run, which has C0, C1"),
        (["--link", "a>b"], "--link: 'a>b' is not a link of this run, which has"),
        (["--rows", "0"], "--rows"),
        (["--rows", "-1"], "--rows"),
        (["--rows", "many"], "--rows"),
        (["--set", "record.series=['wy']"], 'record.series.0: "wy" is not one of the choices'),
        (["--flow", "\x1b[31m"], "--flow: "),
    ],
)
def test_the_command_refuses_wrong_input_in_one_line(
    scenario: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["why", str(scenario), *options]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert "\x1b" not in error


def test_the_command_refuses_a_run_without_the_series(
    small: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = aqmlab.run(small).write(tmp_path / "run")
    assert execute(["why", str(folder)]) == 2
    assert "did not record the series 'why' or 'why_cwnd'" in capsys.readouterr().err
    assert execute(["why", str(folder), "--seed", "2"]) == 2
    assert "is a finished run, which cannot be changed" in capsys.readouterr().err


def test_the_python_code_of_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    for block in blocks(Path("docs/how-to/why.md").read_text("utf-8"), "python"):
        exec(block, {})
    first, second, third = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"drop-next: \d+\.\d ms, count \d+", first)
    assert "'loss'" in second
    assert third == "True True"


def test_the_row_of_the_guide_is_that_of_the_command() -> None:
    change = {"network.queue": "red", "record.series": ["why"]}
    why = aqmlab.run("examples/two_flows.toml", overrides=change).series("why")
    row = why[why["flow"] == "download-0"].iloc[0]
    shown = blocks(Path("docs/how-to/why.md").read_text("utf-8"), "text")[0]
    assert f"{row['time_s']:.6f} {row['link']} {row['flow']} {row['seq']}" in shown
    for name, value in re.findall(r"(\w+) ([\d.]+)[,\n]", shown.partition("\n")[2]):
        assert f"{row[name]:.6g}" == value, name
