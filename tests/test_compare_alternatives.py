"""Tests of the alternatives of `aqmlab compare`: another stack, other starts, and sentences."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import aqmlab
from aqmlab.command import execute
from aqmlab.comparison import Comparison, compare
from aqmlab.comparison.alternatives import alternatives, change, changes_answer
from aqmlab.comparison.queues import Arm
from aqmlab.comparison.run import Run
from aqmlab.comparison.show import answers, hint, robust
from aqmlab.engine import Network, Recorded
from aqmlab.measures.of_run import ALL
from aqmlab.scenario import normalize

QUEUES = ["drop_tail", "codel"]


def of(scenario: Any, *changes: tuple[str, str]) -> dict[str, dict[str, Any]]:
    """Return the scenarios of the alternatives of a scenario, by name."""

    def with_stack(stack: str) -> str:
        return normalize(scenario, overrides=[*changes, ("tcp.stack", stack)])

    texts = alternatives(json.loads(normalize(scenario, overrides=changes)), with_stack)
    return {name: json.loads(text) for name, text in texts.items()}


def test_the_alternatives_are_another_stack_and_starts_within_a_round_trip() -> None:
    others = of("rfc7928")
    assert list(others) == ["stack linux", "starts within 100 ms"]
    tcp = others["stack linux"]["tcp"]
    assert tcp["congestion"]["kind"] == "cubic"
    assert tcp["receive_window"] == "1 MiB", "the scenario sets this key"
    assert list(of("dsl")) == ["stack plain", "starts within 30 ms"]
    assert others["starts within 100 ms"]["phase_breaking"]["start"] == "100 ms"


@pytest.mark.parametrize(
    ("start", "duration", "name"),
    [
        ("99 ms", "60 s", "starts within 1000 ms"),
        ("100 ms", "60 s", "starts within 1000 ms"),
        ("101 ms", "60 s", "starts within 100 ms"),
        ("0 s", "1 s", "starts within 500 ms"),
    ],
)
def test_starts_within_a_round_trip_get_a_longer_alternative(
    start: str, duration: str, name: str
) -> None:
    changes = (("phase_breaking.start", start), ("duration", duration))
    assert list(of("rfc7928", *changes))[1] == name


def test_an_alternative_that_changes_nothing_is_left_out(small: dict[str, Any]) -> None:
    assert list(of(small)) == ["stack linux", "starts within 420 ms"]
    one = small | {"flows": [small["flows"][0] | {"count": 1}]}
    assert list(of(one)) == ["stack linux"], "the start of a single flow has no influence"
    own = small | {"flows": [small["flows"][0] | {"tcp": {"stack": "rfc"}}]}
    assert list(of(own)) == ["starts within 420 ms"], "the flow has a stack of its own"
    assert list(of(json.loads(normalize(small)))) == ["starts within 420 ms"], "every key is set"
    rack = small | {"tcp": {"stack": "linux", "recovery": {"rack": True}}}
    assert list(of(rack)) == ["starts within 420 ms"], "RACK needs the SACK of the stack"


@pytest.mark.parametrize(
    "tcp", [{"stack": "rfc"}, *({"stack": "linux", "congestion": c} for c in ("cubic", "prague"))]
)
def test_a_flow_with_a_stack_of_its_own_is_unchanged(
    small: dict[str, Any], tcp: dict[str, Any]
) -> None:
    own = small["flows"][0] | {"name": "own{i}", "tcp": tcp}
    both = small | {"flows": [*small["flows"], own]}
    texts = normalize(both), json.dumps(of(both)["stack linux"])
    before, after = (Network.of(text).flows for text in texts)
    unchanged = [
        (f.sender, f.receiver, f.ecn) == (g.sender, g.receiver, g.ecn)
        for f, g in zip(before, after, strict=True)
    ]
    assert unchanged == [False, False, True, True]


def comparison(*arms: list[float], **others: Comparison) -> Comparison:
    """Return a comparison of the measure `jain`, with the given values of each arm."""
    runs = [[Run(i, {"jain": v}) for i, v in enumerate(values)] for values in arms]
    names = [Arm(f"queue-{i}", queue=f"queue-{i}") for i in range(len(arms))]
    jain = [m for m in ALL if m.name == "jain"]
    alternatives = {name.replace("_", " "): other for name, other in others.items()}
    return Comparison({"title": ""}, ["a>b"], names, runs, jain, ("jain",), alternatives)


FIRST = [0.49, 0.51] * 6
SHIFTS = [0.001, -0.001, 0.0] * 4


def shifted(share: float, noise: float = 1, n: int = 6, first: float = 1) -> Comparison:
    """Return a comparison in which the second arm exceeds the first arm by a share."""
    of_first = [first * x for x in FIRST]
    pairs = zip(of_first, SHIFTS, strict=True)
    return comparison(of_first[:n], [x + share * first * 0.5 + noise * e for x, e in pairs][:n])


@pytest.mark.parametrize(
    ("share", "other", "changes"),
    [
        (0.2, shifted(0.3), True),
        (0.2, shifted(0.215), False),  # below a tenth of the difference
        (0.2, shifted(0.2, first=1.5), False),  # the share of the first queue counts
        (0.02, shifted(0.028), False),  # below 1 % of the first queue
        (0.02, shifted(-0.02), True),
        (0.2, shifted(0.3, noise=100), False),  # not significant
        (0.2, shifted(-0.01, noise=300), True),  # the sign
        (0, shifted(0.05), True),  # a difference that only the alternative has
    ],
)
def test_an_alternative_changes_an_answer_by_a_significant_change(
    share: float, other: Comparison, changes: bool
) -> None:
    both = replace(shifted(share, n=10), alternatives={"stack linux": other})
    assert changes_answer(both, "stack linux", 1, "jain") == changes
    (sentence,) = answers(both)
    assert ("With the stack linux, queue-1 " in sentence) == changes
    assert bool(robust(both)) != changes


def test_the_sentences_name_each_alternative() -> None:
    both = replace(
        shifted(0.2, n=10),
        alternatives={
            "second half": shifted(0.4, n=10),
            "stack linux": shifted(0.4),
            "starts within 40 ms": shifted(0.2),
        },
    )
    low, middle, high = change(both, "stack linux", 1, "jain")
    assert low <= middle <= high
    assert middle == pytest.approx(0.2)
    (sentence,) = answers(both)
    raises = "queue-1 raises Jain's fairness index from 0.500 to"
    assert sentence.startswith(f"Compared with queue-0, {raises} 0.600")
    assert sentence.endswith(f"With the stack linux, {raises} 0.700 (+40 %) instead.")
    assert robust(both) == "The answers hold with starts within 40 ms (6 replications)."
    rows = both.as_dict()["alternatives"]
    assert [row["alternative"] for row in rows] == [*both.alternatives]
    assert [row["changes_answer"] for row in rows] == [True, True, False]
    assert [row["replications"] for row in rows] == [10, 6, 6]


def test_without_an_answer_no_sentence_states_an_alternative() -> None:
    both = replace(shifted(0.2, n=5), alternatives={"stack linux": shifted(0.4)})
    assert hint(both)
    assert "With the stack" not in " ".join(answers(both))
    assert robust(both) == ""


def test_an_unknown_difference_of_an_alternative_is_stated() -> None:
    nan = float("nan")
    unknown = comparison(FIRST[:6], [nan] * 6)
    both = replace(shifted(0.2, n=10), alternatives={"stack linux": unknown})
    (sentence,) = answers(both)
    assert sentence.endswith(
        "With the stack linux, the change of Jain's fairness index is unknown."
    )
    assert robust(both) == ""


def test_a_measure_that_is_0_with_the_first_queue_is_compared_in_its_unit() -> None:
    both = replace(
        comparison([0.0] * 10, [0.2] * 10),
        alternatives={"stack linux": comparison([0.0] * 6, [0.3] * 6)},
    )
    assert change(both, "stack linux", 1, "jain").middle == pytest.approx(0.1)
    assert changes_answer(both, "stack linux", 1, "jain")


def test_alternatives_are_comparisons_with_six_replications(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    args = ["compare", *QUEUES, "--scenario", str(scenario), "--out", str(out)]
    assert execute([*args, "--replications", "7"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    compared = compare(QUEUES, scenario, 7)
    assert [*compared.alternatives] == ["stack linux", "starts within 420 ms"]
    for sentence in filter(None, [*answers(compared), robust(compared)]):
        assert sentence in printed
    for name, changed in (
        ("stack linux", ("tcp.stack", "linux")),
        ("starts within 420 ms", ("phase_breaking.start", "420 ms")),
    ):
        other = compared.alternatives[name]
        alone = compare(QUEUES, scenario, 6, overrides=[changed], alternatives=False)
        assert alone.alternatives == {}
        assert other.runs == alone.runs
        assert other.runs[1][0].measures != compared.runs[1][0].measures
    rows = json.loads((out / "comparison.json").read_text())["alternatives"]
    assert rows == compared.as_dict()["alternatives"]
    assert len(rows) == 2 * len(compared.primary)
    page = (out / "report.html").read_text("utf-8")
    assert "The comparison under other assumptions, with 6 replications" in page
    assert "goodput, stack linux" in page


def test_few_replications_one_queue_and_other_engines_have_no_alternatives(scenario: Path) -> None:
    assert compare(QUEUES, scenario, 5).alternatives == {}
    assert compare(["codel"], scenario, 6).alternatives == {}
    plain = compare(QUEUES, scenario, 6, alternatives=False)
    results = [
        aqmlab.run(run_scenario)
        for arm in QUEUES
        for run_scenario in recorded_scenarios(scenario, arm, 6)
    ]
    replayed = compare(QUEUES, scenario, 6, engine=Recorded(results))
    assert replayed.alternatives == {}
    assert replayed.runs == plain.runs


def recorded_scenarios(scenario: Path, queue: str, n: int) -> list[dict[str, Any]]:
    """Return the scenarios that a comparison runs with a queue."""
    from aqmlab.comparison.plan import SAME, plan

    texts = plan([queue], scenario, n, ["bottleneck"], []).texts[SAME]
    return [json.loads(text) for (text,) in texts]
