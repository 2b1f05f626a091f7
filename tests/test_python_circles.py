"""Test that the modules of the Python package have no circular imports."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import grimp
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

CORE = {"aqmlab", "aqmlab._core"}
"""Modules that the test ignores.

grimp cannot read the compiled module `_core`, so that an import of `_core` counts as an import of
the package `aqmlab`, which imports every part.
"""


def circles(package: str) -> list[set[str]]:
    """Return the groups of modules with circular imports; imports inside functions count too."""
    graph = grimp.build_graph(package, exclude_type_checking_imports=True, cache_dir=None)
    modules = sorted(graph.modules - CORE)
    number = {module: i for i, module in enumerate(modules)}
    pairs = [
        (number[module], number[imported])
        for module in modules
        for imported in graph.find_modules_directly_imported_by(module) - CORE
    ]
    return groups(modules, pairs)


def groups(modules: list[str], pairs: Iterable[tuple[int, int]]) -> list[set[str]]:
    """Return the strongly connected groups of at least two modules."""
    rows, columns = zip(*pairs, strict=True)
    graph = csr_array(([1] * len(rows), (rows, columns)), shape=(len(modules), len(modules)))
    _, labels = connected_components(graph, connection="strong")
    members: dict[int, set[str]] = defaultdict(set)
    for module, label in zip(modules, labels, strict=True):
        members[int(label)].add(module)
    return [group for group in members.values() if len(group) > 1]


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circles("aqmlab") == []


def test_a_circle_inside_functions_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "rounds"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "a.py").write_text("from rounds import b\n")
    (package / "b.py").write_text("def f() -> None:\n    from rounds.c import g\n")
    (package / "c.py").write_text("def g() -> None:\n    import rounds.a\n")
    (package / "d.py").write_text("import rounds.a\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert circles("rounds") == [{"rounds.a", "rounds.b", "rounds.c"}]
