"""Test that the files of a crate have no circular imports, except the schedulers of `queues`."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from conftest import ROOT

Module = tuple[str, ...]
CRATES = sorted(path.parent for path in (ROOT / "crates").glob("*/src"))
DEFINED = r"^\s*(?:pub(?:\([^)]*\))? )?(?:const )?(?:struct|enum|trait|fn|const|static|type) (\w+)"
USED = r"^\s*(pub(?:\([^)]*\))? )?use ([^;]+);"
INLINE = r"\bcrate::\w+(?:::\w+)*"
"""A path outside a `use` line, as in the table of queue kinds."""
RECURSION = {"schedulers", "discipline", "diffserv"}
"""Modules of `queues` that may import each other, because schedulers contain queues."""


def expanded(path: str) -> Iterator[str]:
    """Yield each path in a `use` declaration; `a::{b, c::{d, e}}` has three paths."""
    group = re.match(r"(.*?)\{(.*)\}$", path.strip(), re.DOTALL)
    if not group:
        yield path.strip().partition(" as ")[0]
        return
    depth, part = 0, ""
    for letter in f"{group[2]},":
        depth += (letter == "{") - (letter == "}")
        if letter == "," and not depth:
            if part.strip():
                yield from expanded(group[1] + part.strip())
            part = ""
        else:
            part += letter


class Crate:
    """Modules of a crate; per module, the names that it defines and the paths that it uses."""

    def __init__(self, crate: Path) -> None:
        self.text: dict[Module, str] = {}
        for file in sorted((crate / "src").rglob("*.rs")):
            parts = file.relative_to(crate / "src").with_suffix("").parts
            text = re.sub(r"//.*", "", file.read_text("utf-8")).partition("#[cfg(test)]\nmod ")[0]
            name = parts[:-1] if parts[-1] in ("mod", "lib") else parts
            self.text[name] = "" if parts[-1] in ("tests", "harness") else text
        self.defined = {
            name: set(re.findall(DEFINED, text, re.MULTILINE)) for name, text in self.text.items()
        }
        self.used: dict[Module, list[Module]] = {
            name: [
                target
                for use in [
                    *(u for _, u in re.findall(USED, text, re.MULTILINE)),
                    *re.findall(INLINE, text),
                ]
                for path in expanded(use)
                if (target := self._absolute(name, path.split("::")))
            ]
            for name, text in self.text.items()
        }

    def _absolute(self, module: Module, path: list[str]) -> Module:
        """Return a path from the root of the crate, or an empty path for another crate's name."""
        if path[-1] == "self":
            path = path[:-1]
        supers = next((i for i, part in enumerate(path) if part != "super"), len(path))
        if supers:
            return (*module[: len(module) - supers], *path[supers:])
        if path[0] == "crate":
            return tuple(path[1:])
        if path[0] == "self":
            return (*module, *path[1:])
        return (*module, *path) if (*module, path[0]) in self.text else ()

    def owner(self, path: Module, visited: frozenset[Module] = frozenset()) -> Module | None:
        """Return the module that defines the last name of a path, through re-exports."""
        if path in self.text or path in visited or not path:
            return path if path in self.text else None
        module, name = path[:-1], path[-1]
        if module not in self.text:
            return self.owner(module, visited | {path})  # a name inside a type
        if name in self.defined[module] or name == "*":
            return module
        for used in self.used[module]:
            if used[-1] in (name, "*"):
                owner = self.owner((*used[:-1], name), visited | {path})
                if owner is not None:
                    return owner
        return module

    def edges(self) -> Iterator[tuple[Module, Module]]:
        """Yield the pairs (module, used module), without uses of a parent module's types.

        A module may add methods to a type of its parent module, because the parent module does not
        depend on these methods.
        """
        for module, paths in self.used.items():
            for path in paths:
                owner = self.owner(path)
                is_parent = owner == module[: len(owner or ())] and path[-1][0].isupper()
                if owner is not None and owner != module and not is_parent:
                    yield module, owner

    def circles(self) -> list[list[str]]:
        """Return the groups of modules with circular imports."""
        names = list(self.text)
        number = {name: i for i, name in enumerate(names)}
        pairs = [(number[a], number[b]) for a, b in self.edges()]
        rows, columns = zip(*pairs, strict=True) if pairs else ((), ())
        graph = csr_array(([1] * len(pairs), (rows, columns)), shape=(len(names), len(names)))
        _, label = connected_components(graph, connection="strong")
        groups: dict[int, list[str]] = {}
        for name, of in zip(names, label, strict=True):
            groups.setdefault(int(of), []).append("::".join(name) or "lib")
        return [circle for circle in groups.values() if len(circle) > 1]


@pytest.mark.parametrize("crate", CRATES, ids=lambda crate: crate.name)
def test_files_of_a_crate_have_no_circular_imports(crate: Path) -> None:
    circles = Crate(crate).circles()
    if crate.name == "queues":
        (recursion,) = circles
        assert {name.partition("::")[0] for name in recursion} == RECURSION
    else:
        assert circles == []


def test_a_circular_import_is_detected(tmp_path: Path) -> None:
    source = tmp_path / "src"
    (source / "b").mkdir(parents=True)
    (source / "lib.rs").write_text("mod a;\nmod b;\npub use b::Two;\n")
    (source / "a.rs").write_text("use crate::b::{c::Two as Other, last};\npub struct One;\n")
    (source / "b" / "mod.rs").write_text("mod c;\npub use c::Two;\npub fn last() {}\n")
    (source / "b" / "c.rs").write_text(
        "use std::fmt;\nuse super::super::a::One;\npub enum Two {}\n"
    )
    assert Crate(tmp_path).circles() == [["a", "b::c", "b"]]


def test_senders_name_no_congestion_control() -> None:
    """Differences between controls are properties of a trait (`congestion/control.rs`)."""
    source = ROOT / "crates/tcp/src"
    table = (source / "congestion/table.rs").read_text("utf-8")
    controls = set(re.findall(r"\w+\((?:Box<)?super::(\w+)::", table))
    assert {"reno", "cubic", "bbr"} <= controls
    named = "|".join(sorted(controls))
    forbidden = rf"\bcongestion::(?:{named})\b|\b(?:Controller|Algorithm)::[A-Z]\w*"
    for folder in ("sender", "recovery", "receiver", "endpoint"):
        for file in (source / folder).rglob("*.rs"):
            text = re.sub(r"//.*", "", file.read_text("utf-8")).partition("#[cfg(test)]\nmod ")[0]
            assert re.findall(forbidden, text) == [], file
