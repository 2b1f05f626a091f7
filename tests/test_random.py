"""Test that each random scenario and each mutated packet script has a result or one error.

The number of a test case is the seed of its random numbers, so that a failure can be repeated.
"""

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from aqmlab import ScenarioError, _core, manual, script
from aqmlab.results import Packed, Result
from conftest import SMALL

QUANTITIES = {
    "time": ["1 us", "0.3 ms", "1 ms", "5 ms", "20 ms", "0.1 s", "1 s", "7 s", "1 h", "10000000 s"],
    "rate": ["1 bit/s", "64 kbit/s", "1 Mbit/s", "1.5 Mbit/s", "10 Mbit/s", "1 Gbit/s"],
    "size": ["0 B", "1 B", "40 B", "536 B", "1460 B", "9 kB", "64 KiB", "1 MB", "1 GiB"],
    "count": ["0 packets", "1 packet", "2 packets", "3.5 packets", "20 packets", "1000 packets"],
}
NUMBERS = [0, 1, 2, 3, 7, 100, 5000, 2**63, 0.5, 0.02, 0.999, 1.5, -1, 1e-9, 1e9]
WORDS = ["", "left-0", "right-1", "a", "{i}", "C{n}", "red", "left>right", "é"]
MAX_DEPTH = 6
MOMENT_S = 0.05


class Generator:
    """Generator of random values for parts of the scenario schema."""

    def __init__(self, number: int) -> None:
        self.chance = random.Random(number)

    def value(self, schema: dict[str, Any], depth: int = 0) -> Any:
        chance = self.chance
        if "default" in schema and chance.random() < 0.4:
            return schema["default"]
        if "$ref" in schema:
            return self.value(manual.definition(schema["$ref"]), depth + 1)
        if "const" in schema:
            return schema["const"]
        for choices in ("anyOf", "oneOf"):
            if choices in schema:
                return self.value(chance.choice(schema[choices]), depth + 1)
        kind = schema.get("type")
        if kind == "object":
            return self.table(schema, depth)
        if kind == "array":
            count = 0 if depth > MAX_DEPTH else chance.choice([0, 1, 1, 2])
            return [self.value(schema.get("items", {}), depth + 1) for _ in range(count)]
        if kind == "string":
            quantity = schema.get("x-quantity", "")
            known = [
                t
                for name in QUANTITIES
                if name in accepted_units(quantity)
                for t in QUANTITIES[name]
            ]
            return chance.choice(known or WORDS)
        if kind == "boolean":
            return chance.random() < 0.5
        return chance.choice(NUMBERS if kind else [*NUMBERS, None, {}, []])

    def table(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        properties = schema.get("properties", {})
        keys = list(schema.get("required", []))
        optional = [key for key in properties if key not in keys]
        count = 0 if depth > MAX_DEPTH else self.chance.choice([0, 0, 1, 2, 3])
        keys += self.chance.sample(optional, min(count, len(optional)))
        return {key: self.value(properties[key], depth + 1) for key in keys}

    def scenario(self) -> dict[str, Any]:
        """Return the small scenario with a duration of 0.5 s and some random values."""
        document: dict[str, Any] = json.loads(json.dumps(SMALL)) | {"duration": "0.5 s"}
        parts = manual.schema()["properties"]
        (dumbbell,) = (
            option["properties"] for option in parts["network"]["anyOf"]
            if option.get("properties", {}).get("kind") == {"const": "dumbbell"}
        )  # fmt: skip
        flow = parts["flows"]["items"]["properties"]
        for table, schemas, maximum in (
            (document, {k: v for k, v in parts.items() if k not in ("network", "flows")}, 2),
            (document["network"], dumbbell, 3),
            (document["flows"][0], flow, 2),
        ):
            for key in self.chance.sample(sorted(schemas), self.chance.randint(0, maximum)):
                if key != "kind":
                    table[key] = self.value(schemas[key])
        if self.chance.random() < 0.5:
            document["duration"] = "0.5 s"
        if self.chance.random() < 0.05:
            document["network"] = self.value(parts["network"])
        return document


def accepted_units(quantity: str) -> str:
    """Return the quantity of a key in the words of `QUANTITIES` (packets: count, bytes: size)."""
    return quantity.replace("packets", "count").replace("bytes", "size")


def run_scenario(number: int) -> bool:
    """Run the random scenario with the seed `number` for 0.05 s; return True if it is valid."""
    text = json.dumps(Generator(number).scenario())
    refusal = ""
    try:
        batch = _core.Batch([_core.check(text, "json", [])], 1)
        batch.next(MOMENT_S)
        batch.cancel()
    except ScenarioError as e:
        refusal = str(e)
    except BaseException as e:  # a panic is not an Exception
        raise AssertionError(f"scenario {number}: {e}\n{text}") from e
    assert "\n" not in refusal, number
    return not refusal


def test_random_scenarios_are_run_or_refused() -> None:
    valid = sum(map(run_scenario, range(400)))
    assert 100 < valid < 400


TCP = ["cubic", "bbr", "dctcp", {"kind": "abe", "over": "cubic"}]
TCP_CHANGES: list[dict[str, Any]] = [
    *({}, {"sack": True}, {"stack": "linux"}, {"stack": "linux", "sack": False}, {"stack": "rfc"}),
    *({"recovery": "newreno"}, {"recovery": {"method": "sack"}}, {"ecn": "accecn"}),
    *({"congestion": congestion} for congestion in TCP),
]


def outcome(text: str) -> Any:
    """Run a scenario; return the tables and the number of events, the error, or None if it runs on.

    The scenario is given as JSON text.
    """
    batch = _core.Batch([text], 1)
    try:
        finished = batch.next(1.0)
    except (ScenarioError, MemoryError) as e:
        return str(e)
    finally:
        batch.cancel()
    if finished is None:
        return None
    result = Result.of_packed(Packed(*finished[1]))
    return {name: result.plain(name) for name in result.tables}, result.manifest["events"]


def test_the_text_of_a_normalized_scenario_is_read_as_any_document() -> None:
    """The presets of a normalized scenario are already expanded, so they are not expanded again.

    The simulator recognizes a normalized scenario by the beginning of its text. A JSON text with
    spaces begins differently, so the simulator expands its presets.
    """
    compared = 0
    for number in range(200):
        generator = Generator(number)
        scenario, flow = generator.scenario(), generator.chance.choice(["tcp", "receiver_tcp"])
        scenario["tcp"] = generator.chance.choice(TCP_CHANGES)
        scenario["flows"][0][flow] = generator.chance.choice(TCP_CHANGES)
        try:
            text = _core.check(json.dumps(scenario), "json", [])
        except ScenarioError:
            continue
        outcomes = [outcome(text), outcome(json.dumps(json.loads(text)))]
        if None not in outcomes:
            assert outcomes[0] == outcomes[1], number
            compared += 1
    assert compared > 30


@pytest.mark.nightly
@pytest.mark.parametrize("tenth", range(10))
def test_many_random_scenarios_are_run_or_refused(tenth: int) -> None:
    valid = sum(map(run_scenario, range(tenth * 10_000, (tenth + 1) * 10_000)))
    assert 2500 < valid < 10_000


SCRIPTS = [
    file.read_text("utf-8") for file in sorted(Path("tests/scripts").rglob("*.pkt"))
]  # fmt: skip
JUNK = ["0", "1", "-1", "2147483647", "4294967296", "18446744073709551616", "*", "~", "...", "S",
        "}", "[", "<", ">", "(", "F.", "+1000000", "1e9", ".", "\\", "`", "'", '"', "é", "\x00",
        "%{", "}%", "SOL_TCP", "TCP_INFO", "ack", "win", "<...>", "0:4294967295(65535)",
        ]  # fmt: skip


def mutated(number: int) -> str:
    """Return a packet script with up to five random changes of lines, numbers and characters."""
    chance = random.Random(number)
    lines = chance.choice(SCRIPTS).splitlines()
    for _ in range(chance.choice([1, 1, 2, 3, 5])):
        at = chance.randrange(len(lines))
        line, change = lines[at], chance.randrange(7)
        if change == 0:
            del lines[at]
        elif change == 1:
            lines.insert(at, chance.choice(lines))
        elif change == 2:
            lines.insert(at, chance.choice(chance.choice(SCRIPTS).splitlines()))
        elif change == 3:
            other = chance.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        elif change == 4:
            tokens = re.split(r"(\w+)", line)
            tokens[chance.randrange(len(tokens))] = chance.choice(JUNK)
            lines[at] = "".join(tokens)
        elif change == 5:
            place = chance.randrange(len(line) + 1)
            lines[at] = line[:place] + chance.choice(JUNK) + line[place:]
        else:
            place = chance.randrange(len(line) + 1)
            lines[at] = line[:place] + line[place + chance.randint(1, 4) :]
        if not lines:
            break
    return "\n".join(lines)


def run_script(number: int) -> str:
    """Run the mutated packet script with the seed `number` and return its verdict."""
    text = mutated(number)
    try:
        return script.run(text, stack=("linux", "rfc")[number % 2]).verdict
    except BaseException as e:
        raise AssertionError(f"script {number}: {e}\n{text}") from e


def test_mutated_scripts_get_a_verdict() -> None:
    assert {run_script(number) for number in range(1000)} <= set(script.WORDS)


@pytest.mark.nightly
@pytest.mark.parametrize("tenth", range(10))
def test_many_mutated_scripts_get_a_verdict(tenth: int) -> None:
    for number in range(tenth * 2000, (tenth + 1) * 2000):
        assert run_script(number) in script.WORDS
