"""Tests of the study rfc2884: published data, scenarios, tuning and quick form."""

import csv
import itertools
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from aqmlab import studies
from aqmlab.command import execute
from aqmlab.engine import Simulator
from aqmlab.experiment import run_many
from aqmlab.experiment.tuning import best, the_queue, tied
from aqmlab.scenario import normalize
from aqmlab.studies.framework import Need, Runs
from aqmlab.studies.framework.verdicts import CONTRADICTED, OPEN, REPRODUCED
from aqmlab.studies.rfc2884 import bulk, fairness, readings, recovery, today, transactions, tuned
from aqmlab.studies.rfc2884.claims import CLAIMS
from aqmlab.studies.rfc2884.outcomes import reduce
from aqmlab.studies.rfc2884.scenarios import (
    BOTTLENECK,
    BY_LEVEL,
    ECN_OFF,
    ECN_ON,
    HIGH,
    LEVELS,
    LOW,
    MAXP,
    RENO,
    SACK,
    TCPS,
    THRESHOLDS,
    TUNING,
    UNTUNED,
    Setting,
)
from test_wire import tshark

STUDY = studies.load("rfc2884")
PARAMETERS = CLAIMS.path.parent / "parameters.csv"


def printed(name: str) -> str:
    """Return the published text of a parameter of the memo."""
    with PARAMETERS.open(encoding="utf-8", newline="") as file:
        (text,) = {row["value"] for row in csv.DictReader(file) if row["name"] == name}
    return text


def test_scenarios_have_the_parameters_of_the_memo() -> None:
    assert [str(x) for x in MAXP] == printed("maxp_values").split(";")
    assert [str(n) for n in LEVELS] == [
        printed(f"congesting_flows_{level}") for level in LEVELS.values()
    ]
    scenario = json.loads(normalize(bulk.setting(HIGH, 0.2).scenario(3)))
    links = {f"{one['from']}>{one['to']}": one for one in scenario["network"]["links"]}
    assert {one["rate"] for one in links.values()} == {"10 Mbit/s"}
    (pipe,) = links[BOTTLENECK]["queue"]["classes"]
    assert (pipe["rate"], pipe["borrow"]) == ("1.5 Mbit/s", "bounded")
    assert (pipe["queue"]["maxp"], pipe["queue"]["gentle"]) == (0.2, False)
    assert links["r2>lan"]["delay"] == "20 ms"
    congesting, on, off = scenario["flows"]
    assert (congesting["count"], congesting["to"]) == (10, "c")
    assert congesting["traffic"]["size"] is None
    assert on["traffic"]["size"] == off["traffic"]["size"] == "20 MiB"
    assert (on["start"], off["start"]) == ("20 s", "20 s")
    ecn = [flow["tcp"]["ecn"]["mode"] for flow in (congesting, on, off)]
    assert ecn == ["off", "rfc3168", "off"]
    small = json.loads(normalize(transactions.setting(LOW, 0.1).scenario(0)))
    assert small["duration"] == "200 s"
    assert {flow["to"] for flow in small["flows"][1:]} == {"server"}
    assert {flow["arrivals"]["after"] for flow in small["flows"][1:]} == {"response"}
    assert fairness.equal(HIGH, 0.1).scenario(0)["flows"][0]["count"] == 5


def test_nearly_all_settings_and_readings_have_different_scenarios() -> None:
    grids = [at for tcp in TCPS for at in (*bulk.grid(tcp), *transactions.grid(tcp))]
    read = [readings.read(at, r) for at in readings.EVERY for r in readings.READINGS]
    for many in (grids, read):
        # Some scenarios are equal, because some TCP stacks ignore a key that an interpretation of
        # RFC 2884 changes.
        distinct = {normalize(at.scenario(0) | {"title": ""}) for at in many}
        assert len(distinct) >= 0.9 * len(many)
    assert len({reading.about for reading in readings.READINGS}) == len(readings.READINGS)


def test_a_run_is_reduced_to_the_printed_quantities() -> None:
    short = [
        transactions.setting(HIGH, 0.1, RENO, 20).scenario(0),
        fairness.setting("none", 0.1).scenario(0),
    ]
    result, even = run_many(short)
    run, replies = reduce(result), result.columns("replies")
    done = dict(zip(result.columns("exchanges")["flow"],
                    result.columns("exchanges")["completed"], strict=True))  # fmt: skip
    assert run.on.rate == pytest.approx(float(done[ECN_ON]) / 180, rel=0.01)
    assert run.off.drops == replies["dropped_packets"][list(replies["flow"]).index(ECN_OFF)]
    assert run.off.marks == 0 < run.on.marks
    assert run.shares is not None
    assert run.shares.inside > 0.9
    fair, flows = reduce(even), even.columns("flows")
    assert 0.95 < fair.jain < 1
    late = [float(acked) for acked in flows["acked_bytes"]][-2:]
    assert fair.on.goodput_bps / fair.off.goodput_bps == pytest.approx(late[0] / late[1], rel=0.01)


def test_drops_of_one_window_are_counted_once() -> None:
    """Each window with drops has one first drop, so a flow has at least as many drops."""
    scenario = bulk.setting(HIGH, MAXP[0]).scenario(0) | {"duration": "60 s"}
    (result,) = run_many([scenario])
    run, drops = reduce(result), result.columns("drops")
    off = run.off
    assert 0 < off.several < off.windows
    assert off.windows + off.several <= off.drops
    own = [float(t) for t, flow in zip(drops["time_s"], drops["flow"], strict=True)
           if flow == ECN_OFF]  # fmt: skip
    far_apart = 1 + sum(b - a > 1 for a, b in itertools.pairwise(own))  # far longer than a window
    assert far_apart <= off.windows


def test_a_reading_of_the_thresholds_leaves_thresholds_of_a_setting_alone() -> None:
    reading = readings.BY_LEVEL
    assert readings.read(bulk.setting(HIGH, 0.1), reading).pair == BY_LEVEL[HIGH]
    assert readings.read(bulk.setting(LOW, 0.1), reading).pair == THRESHOLDS
    assert readings.read(tuned.UNTUNED_BULK, reading).pair == UNTUNED
    both = readings.together(readings.thresholds(10), readings.MIN_TIMEOUT)
    assert readings.read(bulk.setting(LOW, 0.1), both).pair == (10, 30)
    assert dict(both.tcp) == {"rto.min": "1 s"}


@pytest.mark.nightly
def test_the_rule_of_tune_red_chooses_the_thresholds_of_the_study() -> None:
    """The thresholds are the best pair for Reno, and tied with the best pair for SACK."""
    runs = Runs(tuned.REPLICATIONS, reduce, Simulator())
    runs.request(tuned.ITEM.needs())
    runs.run()
    assert tuned.ITEM.then
    runs.request(tuned.ITEM.then(runs))
    runs.run()
    chosen = best(tuned.trials(runs))
    assert (chosen.minth, chosen.maxth) == THRESHOLDS
    assert chosen.score > 0.85
    assert chosen.minth in {one.minth for one in tied(tuned.trials(runs, SACK))}
    levels = {n: tuned.of_level(runs, n) for n in LEVELS}
    assert {n: (one.minth, one.maxth) for n, one in levels.items()} == BY_LEVEL
    queue = the_queue(Setting(TUNING, LOW, 0.1).scenario(0))
    assert queue.link == BOTTLENECK


def test_reno_needs_four_packets_in_flight_for_a_fast_retransmit() -> None:
    runs = Runs(1, reduce, Simulator())
    runs.request(recovery.ITEM.needs())
    runs.run()
    assert recovery.least_window(runs) == 4
    three, four = (runs.one(recovery.Window(w), 0).off for w in (3, 4))
    assert (three.fast, three.timeouts, four.fast, four.timeouts) == (0, 1, 1, 0)


@pytest.mark.nightly
def test_every_claim_is_decided_and_every_reading_has_a_table_row() -> None:
    """Two replications of 45 s decide each claim; one is enough per interpretation of RFC 2884."""
    runs = Runs(2, reduce, Simulator(), changes=[("duration", "'45 s'")])
    for item in STUDY.items:
        if item.name not in ("tuning", "validation"):
            few = 1 if item.name in ("readings", "today") else 2
            runs.request(Need(need.setting, at_most=few) for need in item.needs())
    runs.run()
    decided = CLAIMS.decide(runs, [item.name for item in STUDY.items])
    assert len(decided) == 50
    verdicts = {claim.id: decision.verdict for claim, decision in decided}
    assert set(verdicts.values()) <= {REPRODUCED, CONTRADICTED, OPEN}
    assert all(decision.ours and decision.evidence for _, decision in decided)
    assert verdicts["R2-019"] == verdicts["R2-020"] == REPRODUCED
    assert verdicts["R2-031"] == CONTRADICTED  # Timeouts cause most retransmissions.

    sections = {item.name: item.make(runs) for item in (readings.ITEM, today.ITEM)}
    for name, lines in (("readings", len(readings.READINGS)), ("today", len(today.QUEUES))):
        assert len(sections[name].tables[0].rows) == lines
        assert all(np.isfinite(cell.ours.value) for cell in sections[name].cells)
    assert sections["readings"].text[-1].startswith("5 KB: gain minus gain of 20 KB")


def test_a_quick_reproduction(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "study"
    assert execute(["reproduce", "rfc2884", "--quick", "--out", str(out)]) == 0
    assert "only Reno" in capsys.readouterr().out
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    assert manifest["quick"]
    assert manifest["items"] == [item.name for item in STUDY.items]
    assert (out / "claims.csv").read_text("utf-8").strip() == ""
    report = (out / "report.html").read_text("utf-8")
    assert not re.search(r"""(src|href)=["'](?!#)""", report)  # The page loads no other file.
    assert ">nan" not in report
    assert "files/ecn-on.pcapng" in report

    with (out / "cells.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    for c in [c for c in cells if c["item"] == "fairness"]:
        assert abs(float(c["ours"]) - float(c["published"])) < 0.02
    gains = {
        (c["item"], c["congesting"], c["maxp"]): float(c["ours"])
        for c in cells
        if c["quantity"] == "relative_advantage_of_ecn"
    }
    # For every seed, the advantage of ECN grows with the congestion and with maxp.
    assert 0 < gains["bulk", "2", "0.1"] < gains["bulk", "10", "0.1"] < gains["bulk", "10", "0.5"]
    assert gains["bulk", "10", "0.02"] < gains["bulk", "10", "0.1"]


def test_the_captures_have_the_bits_of_both_flows(tmp_path: Path) -> None:
    """Only the flow with ECN has packets with ECT, CE, ECE or CWR."""
    if not shutil.which("tshark"):
        pytest.skip("the test reads captures with tshark; install it with: apt-get install tshark")
    out = tmp_path / "study"
    chosen = ["--only", "validation", "--out", str(out)]
    assert execute(["reproduce", "rfc2884", *chosen]) == 0
    bits: dict[str, np.ndarray] = {}
    for host in (ECN_ON, ECN_OFF):
        fields = ["ip.dsfield.ecn", "tcp.len", "tcp.flags.ece", "tcp.flags.cwr", "tcp.flags.syn"]
        wanted = [word for field in fields for word in ("-e", field)]
        lines = tshark(out / "files" / f"{host}.pcapng", "-T", "fields", *wanted)
        rows = [line.replace("True", "1").replace("False", "0").split("\t") for line in lines]
        bits[host] = np.array([[int(x) for x in row] for row in rows])
    ecn, length, ece, cwr, syn = bits[ECN_ON].T
    assert set(ecn[length > 0]) == {2, 3}  # Data has ECT(0) or CE.
    assert set(ecn[length == 0]) == {0}  # Pure ACKs, SYN and SYN-ACK have no ECT.
    assert list(ece[syn == 1]) == [1, 1]
    assert list(cwr[syn == 1]) == [1, 0]
    assert (ecn == 3).sum() > 5
    assert ece[syn == 0].sum() >= cwr[syn == 0].sum() > 5
    assert not bits[ECN_OFF][:, [0, 2, 3]].any()


def test_the_setting_sack_uses_fack_and_the_setting_reno_does_not() -> None:
    plain, sack = (json.loads(normalize(bulk.setting(LOW, 0.1, tcp).scenario(0))) for tcp in
                   (RENO, SACK))  # fmt: skip
    assert (plain["tcp"]["recovery"]["method"], plain["tcp"]["sack"]) == ("reno", False)
    assert (sack["tcp"]["recovery"]["method"], sack["tcp"]["sack"]) == ("fack", True)
