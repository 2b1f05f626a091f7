"""Tests of the study ecn-red-simulation: published data, scenarios and quick form."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from aqmlab import studies
from aqmlab.command import execute
from aqmlab.engine import Simulator
from aqmlab.experiment import run_many
from aqmlab.scenario import normalize
from aqmlab.studies.ecn_red_simulation import cheating, errors, pairs, readings
from aqmlab.studies.ecn_red_simulation.claims import CLAIMS
from aqmlab.studies.ecn_red_simulation.ratios import share
from aqmlab.studies.ecn_red_simulation.scenarios import (
    ARMS,
    ECN,
    HEAD,
    MULTIPLE,
    NETWORKS,
    OFF,
    SINGLE,
    STARS,
    Case,
    Setting,
    cases,
)
from aqmlab.studies.ecn_red_simulation.tallies import GOODPUT, SIGNALS, reduce
from aqmlab.studies.framework import Need, Runs
from aqmlab.studies.framework.verdicts import CONTRADICTED, OPEN, REPRODUCED

STUDY = studies.load("ecn-red-simulation")
PUBLISHED = CLAIMS.path.parent
SHORT = Case(10, 10, 60, 0.002, 6, 10_000, 0.0)
LONG = Case(10, 10, 60, 0.002, 12, 1_000_000, 0.25)


def test_the_cases_are_those_of_the_published_grid() -> None:
    with (PUBLISHED / "grid.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 256
    printed = [
        Case(
            round(1000 * float(row["link_delay_s"])),
            int(row["linterm"]),
            int(row["maxth_packets"]),
            float(row["q_weight"]),
            int(row["sessions_per_pair"]),
            int(row["file_size_byte"]),
            float(row["cbr_rate_fraction"]),
        )
        for row in rows
        if row["ecn"] == "enabled"
    ]
    assert printed == list(cases()) == list(dict.fromkeys(printed))
    for row in rows:
        assert (row["minth_packets"], row["queue_limit_packets"]) == ("10", "200")


@pytest.mark.parametrize("network", [*NETWORKS, *STARS])
def test_every_case_has_the_parameters_of_the_paper(network: str) -> None:
    scenario = json.loads(normalize(Setting(network, LONG, HEAD).scenario(2)))
    between = [link for link in scenario["network"]["links"] if "gw" in link["from"]]
    assert len(between) == (1 if network == SINGLE else 3)
    for link in between:
        assert (link["rate"], link["delay"]) == ("512 kbit/s", "10 ms")
        assert link["queue"] == link["reverse"]["queue"]
        queue = link["queue"]
        assert (queue["limit"], queue["minth"], queue["maxth"]) == (
            "200 packets", "10 packets", "60 packets",
        )  # fmt: skip
        assert (queue["maxp"], queue["wq"], queue["mark_at"]) == (0.1, 0.002, "head")
    tcp = [flow for flow in scenario["flows"] if flow["traffic"]["kind"] == "bulk"]
    assert [flow["count"] for flow in tcp] == [12] * (2 if network == SINGLE else 4)
    assert all(flow["arrivals"]["after"] == "closing" for flow in tcp)
    (udp,) = (flow["traffic"] for flow in scenario["flows"] if flow not in tcp)
    assert (udp["rate"], udp["on"], udp["off"]) == ("128 kbit/s", "10 s", "10 s")
    assert scenario["phase_breaking"]["start"] == "500 ms"


def test_arms_differ_only_in_ecn() -> None:
    def plain(arm: str) -> str:
        text = normalize(Setting(MULTIPLE, SHORT, arm).scenario(1) | {"title": ""})
        changed = text.replace('"mode":"rfc3168"', '"mode":"off"')
        return changed.replace('"mark_at":"head"', '"mark_at":"tail"')

    assert plain(OFF) == plain(ECN) == plain(HEAD)
    assert len({normalize(Setting(MULTIPLE, SHORT, arm).scenario(1)) for arm in ARMS}) == 3


def test_every_reading_and_every_question_has_its_own_scenario() -> None:
    scenarios = set()
    for reading in readings.READINGS:
        for network, _ in reading.networks:
            scenarios.add(normalize(reading.setting(network, SHORT, ECN).scenario(0)))
    assert len(scenarios) == sum(len(reading.networks) for reading in readings.READINGS)
    cheats = {normalize(setting.scenario(0)) for setting in cheating.EVERY}
    assert len(cheats) == len(cheating.EVERY)
    assert len({normalize(setting.scenario(0)) for setting in errors.EVERY}) == len(errors.EVERY)


def test_a_run_is_reduced_to_the_printed_quantities() -> None:
    scenario = Setting(SINGLE, SHORT, ECN).scenario(0)
    (result,) = run_many([scenario | {"duration": "300 s"}])
    tally = reduce(result)
    links, flows = result.columns("links"), result.columns("flows")
    routers = [i for i, name in enumerate(links["link"]) if name in ("gw1>gw2", "gw2>gw1")]
    drops = sum(int(links["dropped_packets"][i]) for i in routers)
    assert SIGNALS.of(tally) == drops + sum(int(links["marked_packets"][i]) for i in routers)
    assert tally.drops == drops == sum(links["dropped_packets"])
    assert GOODPUT.of(tally) == pytest.approx(8 * sum(flows["acked_bytes"]) / 300)
    assert 0.9 < GOODPUT.of(tally) / 512e3 * 1532 / 1492 < 1
    times = result.columns("transfers")
    ended = np.isfinite(times["duration_s"])
    assert tally.completed == ended.sum() > 1000
    assert tally.mean_s == pytest.approx(times["duration_s"][ended].mean())
    queue = result.columns("queue")
    assert tally.queue == pytest.approx(queue["queue_packets"].mean(), rel=0.05)
    assert tally.below == pytest.approx((queue["average_packets"] < 10).mean())
    assert tally.above == 0


def test_sessions_follow_each_other_within_50_ms() -> None:
    scenario = Setting(SINGLE, SHORT, OFF).scenario(0)
    scenario["flows"] = [scenario["flows"][0] | {"count": 1}]
    scenario["record"] = {"series": ["transfers"]}
    (result,) = run_many([scenario])
    times = result.columns("transfers")
    start, end = np.asarray(times["start_s"]), np.asarray(times["completed_s"])
    pauses = start[1:] - end[:-1][: len(start) - 1]
    assert len(pauses) > 400
    # One ACK acknowledges the server's last data and its FIN. The client's FIN needs half a
    # round-trip time more.
    assert pauses.min() > 0.01
    assert pauses.max() < 0.012 + 0.05 + 0.01
    assert 0 <= start[0] < 0.55


def test_the_share_is_one_half_without_a_difference() -> None:
    assert share(0) == 0.5
    assert round(share(10), 3) == 0.524
    assert round(share(20), 3) == 0.545


def test_every_claim_is_decided() -> None:
    """Each claim has a verdict in the quick form, often different from the full study's verdict."""
    runs = Runs(2, reduce, Simulator(), quick=True)
    runs.request(need for need in pairs.both() if short(need))
    runs.run()
    decided = CLAIMS.decide(runs, [item.name for item in STUDY.items])
    assert len(decided) == 34
    verdicts = {claim.id: decision.verdict for claim, decision in decided}
    assert set(verdicts.values()) <= {REPRODUCED, CONTRADICTED, OPEN}
    assert all(decision.ours and decision.evidence for _, decision in decided)
    assert verdicts["ES-001"] == CONTRADICTED  # The claim is about the whole grid.
    assert [verdicts[f"ES-00{i}"] for i in (3, 4, 5)] == [REPRODUCED] * 3


def short(need: Need) -> bool:
    """Return True if a run is short: it has 6 sessions and a maxth of 60 packets."""
    return bool(need.setting.case.sessions == 6 and need.setting.case.maxth == 60)


def test_a_quick_reproduction(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The quick form has every item of the study and no verdicts, and prints the omitted cases."""
    out = tmp_path / "study"
    assert execute(["reproduce", "ecn-red-simulation", "--quick", "--out", str(out)]) == 0
    assert "a sixteenth of the grid" in capsys.readouterr().out
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    assert manifest["quick"]
    assert manifest["items"] == [item.name for item in STUDY.items]
    assert manifest["replications"] == 2
    assert (out / "claims.csv").read_text("utf-8").strip() == ""
    report = (out / "report.html").read_text("utf-8")
    assert not re.search(r"""(src|href)=["'](?!#)""", report)  # The page loads no other file.
    assert ">nan" not in report

    with (out / "cells.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    goodputs = [c for c in cells if c["item"] == "figure-4" and c["quantity"] == "goodput"]
    assert len(goodputs) == 2 * 8
    assert {c["replications"] for c in cells if c["quantity"] == "goodput"} == {"2"}

    def total(item: str, quantity: str, **at: str) -> float:
        chosen = [c for c in cells if (c["item"], c["quantity"]) == (item, quantity)]
        return sum(float(c["ours"]) for c in chosen if at.items() <= c.items())

    # For every seed, ECN avoids timeouts, and hosts that hide marks lose goodput because of the
    # nonce.
    timeouts = {arm: total("causes", "timeouts", arm=arm) for arm in ARMS}
    assert timeouts[ECN] < 0.8 * timeouts[OFF]
    assert timeouts[HEAD] < 0.8 * timeouts[OFF]
    goodput = {
        kind: total("cheating", "goodput_of_suspects", suspects=kind) for kind in cheating.CHEATS
    }
    assert (
        goodput["receivers hide marks"]
        == goodput["senders ignore ECN-Echo"]
        > 1.3 * goodput["honest"]
    )
    assert (
        goodput["honest"] < goodput["receivers hide marks, nonce"] < goodput["receivers hide marks"]
    )
    by_errors = total("errors", "losses_by_errors", arm=ECN, error_rate="0.01")
    assert by_errors > 90 > 50 > total("errors", "losses_by_errors", arm=OFF, error_rate="0.01")
