"""Whatever a document says, the answer is a run or one clear refusal."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from aqmlab import ScenarioError, _core
from conftest import SMALL

TOML = Path("examples/mixed.toml").read_text()

# Copied, since a document that is mutated twice would otherwise change what is drawn later.
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
    """Every path into a document."""
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
    """The small scenario, every default filled in, with a few places replaced or removed."""
    document: dict[str, Any] = json.loads(_core.check(json.dumps(SMALL), "json", []))
    for path in draw(st.lists(st.sampled_from(PLACES), min_size=1, max_size=3)):
        *above, last = path
        node: Any = document
        for key in above:
            has = isinstance(node, dict | list) and (
                key in node if isinstance(node, dict) else isinstance(key, int) and key < len(node)
            )
            node = node[key] if has else None
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


def answer(text: str, language: str, overrides: list[tuple[str, str]]) -> None:
    """Check a document, and run it for a moment if it is one."""
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
def test_a_mutated_scenario(document: dict[str, Any]) -> None:
    answer(json.dumps(document), "json", [])


@given(st.text() | st.recursive(JUNK, st.lists).map(str), st.sampled_from(["json", "toml"]))
def test_any_text(text: str, language: str) -> None:
    answer(text, language, [])


@given(st.integers(0, len(TOML)), st.integers(0, len(TOML)), st.text(max_size=10))
def test_a_torn_file(start: int, end: int, between: str) -> None:
    answer(TOML[: min(start, end)] + between + TOML[max(start, end) :], "toml", [])


@given(st.sampled_from(PLACES), JUNK, st.text(max_size=12))
def test_any_override(path: tuple[Any, ...], junk: Any, text: str) -> None:
    key = ".".join(map(str, path))
    for value in (text, json.dumps(junk)):
        answer(json.dumps(SMALL), "json", [(key, value), (text, value)])
