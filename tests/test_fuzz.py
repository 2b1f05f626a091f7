"""Tests with random scenario documents: the simulator runs each document or refuses it."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from aqmlab import ScenarioError, _core
from aqmlab.scenario import toml_document
from conftest import SMALL

TOML = Path("examples/mixed.toml").read_text()

# Each sample is a copy, because a mutation of a shared value would change later samples.
JUNK = (
    st.none()
    | st.booleans()
    | st.sampled_from([0, 1, -1, 2, 3, 65536, 2**63, 2**64, 10**30, 0.5, -0.0, 1e-300, 1e300])
    | st.sampled_from(["", " ", "nan", "1e999 s", "0 s", "-1 ms", "1 packets", "0 packets", "1 B"])
    | st.sampled_from(["1 bit/s", "1e30 Gbit/s", "1e-9 s", "99999999999 h", "red", "bulk", "{i}"])
    | st.sampled_from(["left-0", "right-1", "left", "off", "rfc3168", "1.5 Mbit/s", "20 ms"])
    | st.text(max_size=8)
    | st.sampled_from([[], {}, [[]], {"kind": "red"}, {"kind": None}, [1, "a"]])
).map(copy.deepcopy)


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value in a document."""
    yield path
    children = node.items() if isinstance(node, dict) else enumerate(node)
    for key, child in children:
        if isinstance(child, dict | list):
            yield from places(child, (*path, key))
        else:
            yield (*path, key)


PLACES = [path for path in places(json.loads(_core.check(json.dumps(SMALL), "json", []))) if path]


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Return the small scenario with all defaults; up to three values are replaced or removed."""
    document: dict[str, Any] = json.loads(_core.check(json.dumps(SMALL), "json", []))
    for path in draw(st.lists(st.sampled_from(PLACES), min_size=1, max_size=3)):
        *above, last = path
        node: Any = document
        for key in above:
            exists = isinstance(node, dict | list) and (
                key in node if isinstance(node, dict) else isinstance(key, int) and key < len(node)
            )
            node = node[key] if exists else None
        if isinstance(node, dict) or (
            isinstance(node, list) and isinstance(last, int) and last < len(node)
        ):
            if draw(st.booleans()) or isinstance(node, list):
                node[last] = draw(JUNK)
            elif draw(st.booleans()):
                node.pop(last, None)
            else:
                node[draw(st.text(max_size=5))] = draw(JUNK)
    return document


def decimals(minimum: float, maximum: float) -> st.SearchStrategy[float]:
    """Return a Hypothesis strategy that generates numbers with up to 17 significant digits."""
    return st.floats(minimum, maximum, allow_subnormal=False)


SHAPES = decimals(1.01, 10)
SIZES = st.integers(10**3, 10**6).map(lambda n: f"{n} B")
TIMES = st.integers(10**9, 10**14).map(lambda n: f"{n / 10**9!r} ms")


def distributions(values: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Return a Hypothesis strategy that generates distributions of sizes or times."""
    simple = (
        st.builds(lambda mean: {"kind": "exponential", "mean": mean}, values)
        | st.builds(lambda m, s: {"kind": "lognormal", "mean": m, "sigma": s}, values, SHAPES)
        | st.builds(lambda m, s: {"kind": "weibull", "mean": m, "shape": s}, values, SHAPES)
        | st.builds(lambda m, s: {"kind": "pareto", "mean": m, "shape": s}, values, SHAPES)
        | st.builds(lambda m, s: {"kind": "lomax", "mean": m, "shape": s}, values, SHAPES)
    )
    parts = st.lists(
        st.builds(lambda weight, of: {"weight": weight, "of": of}, decimals(1e-9, 1e9), simple),
        min_size=1,
        max_size=3,
    )
    return simple | st.builds(lambda several: {"kind": "mixture", "parts": several}, parts)


SCENARIO_PARTS = st.tuples(distributions(SIZES), distributions(TIMES), TIMES)


@st.composite
def random_traffic(draw: st.DrawFn) -> dict[str, Any]:
    """Return the small scenario with random parameters of RED and random distributions."""
    document = copy.deepcopy(SMALL)
    document["network"]["queue"] |= {
        "maxp": draw(decimals(1e-6, 1)), "wq": draw(decimals(1e-6, 1)),
        "minth": f"{draw(decimals(1, 4))!r} packets",
    }  # fmt: skip
    document["network"]["delay"] = draw(TIMES)
    size, page_gap, interval = draw(SCENARIO_PARTS)
    document["duration"] = "1 s"
    document["flows"][0] |= {
        "count": 1, "to": "right-0", "arrivals": {"interval": interval},
        "traffic": {"kind": "bulk", "size": size},
    }  # fmt: skip
    traffic = {"kind": "web", "preset": "power-of-ecn", "response": size, "page_gap": page_gap}
    document["flows"].append({"from": "left-0", "to": "right-1", "traffic": traffic})
    return document


def run_or_refuse(text: str, language: str, overrides: list[tuple[str, str]]) -> None:
    """Run a valid document for 0.2 s; assert that an invalid document raises a clear error."""
    try:
        batch = _core.Batch([_core.check(text, language, overrides)], 1)
        batch.next(0.2)
    except ScenarioError as e:
        refusal = str(e)
    else:
        batch.cancel()
        return
    assert refusal.strip()


@given(documents())
def test_a_mutated_scenario_is_run_or_refused(document: dict[str, Any]) -> None:
    run_or_refuse(json.dumps(document), "json", [])


@given(st.text() | st.recursive(JUNK, st.lists).map(str), st.sampled_from(["json", "toml"]))
def test_an_arbitrary_text_is_run_or_refused(text: str, language: str) -> None:
    run_or_refuse(text, language, [])


@given(st.integers(0, len(TOML)), st.integers(0, len(TOML)), st.text(max_size=10))
def test_a_file_with_missing_parts_is_run_or_refused(start: int, end: int, between: str) -> None:
    run_or_refuse(TOML[: min(start, end)] + between + TOML[max(start, end) :], "toml", [])


@given(st.sampled_from(PLACES), JUNK, st.text(max_size=12))
def test_an_arbitrary_override_is_run_or_refused(
    path: tuple[Any, ...], junk: Any, text: str
) -> None:
    key = ".".join(map(str, path))
    for value in (text, json.dumps(junk)):
        run_or_refuse(json.dumps(SMALL), "json", [(key, value), (text, value)])


@given(random_traffic())
def test_the_normal_form_of_a_scenario_is_stable(document: dict[str, Any]) -> None:
    for text, language in ((toml_document(document), "toml"), (json.dumps(document), "json")):
        normal = _core.check(text, language, [])
        assert _core.check(normal, "json", []) == normal
