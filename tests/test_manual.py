"""Tests of files that are generated from the simulator's definitions, and of their citations."""

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import aqmlab
from aqmlab import _generate, manual
from aqmlab.explain import explanation
from aqmlab.scenario import normalize, read_text

EXAMPLES = sorted(Path("examples").glob("*.toml"))


def valid(document: Any) -> bool:
    return bool(jsonschema.Draft202012Validator(manual.schema()).is_valid(document))


def test_generated_files_are_current() -> None:
    for path, text in _generate.generated().items():
        assert path.read_text("utf-8") == text, f"{path}: run python -m aqmlab._generate"


def test_a_table_missing_from_the_page_gets_a_section(monkeypatch: pytest.MonkeyPatch) -> None:
    column = manual.Column("time_s", "s", "Time of the event.")
    monkeypatch.setattr(_generate, "columns", lambda: manual.columns() | {"new": [column]})
    monkeypatch.setattr(_generate, "tables", lambda: {"new": "All rows."})
    page = (_generate.ROOT / "docs" / "results.md").read_text("utf-8")
    section = "\n## new\n\nAll rows.\n\n<!-- columns of new -->\n"
    added = _generate.results_page().removeprefix(page)
    assert added.startswith(section)
    assert added.endswith("| `time_s` | s | Time of the event. |\n")


def test_a_run_has_the_defined_columns(small: dict[str, Any]) -> None:
    result = aqmlab.run(small | {"record": {"series": ["queue", "window", "drops", "marks"]}})
    for table in result.tables:
        assert [column.name for column in manual.columns()[table]] == list(result.columns(table))


def test_the_schema_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(manual.schema())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_the_schema_accepts_the_examples(path: Path) -> None:
    import tomllib

    assert valid(tomllib.loads(read_text(path)[0]))
    assert valid(json.loads(normalize(path)))


def test_the_schema_rejects_scenarios_that_the_simulator_rejects(small: dict[str, Any]) -> None:
    assert valid(small)
    assert not valid(small | {"sead": 1})
    assert not valid(small | {"duration": 5})
    assert not valid(small | {"duration": "5 bit/s"})
    assert not valid({"flows": small["flows"]})
    assert not valid(small | {"network": small["network"] | {"queue": "green"}})


@pytest.mark.parametrize("page", manual.pages().values(), ids=lambda p: p.name)
def test_a_typed_object_has_every_key_of_its_page(page: manual.Page) -> None:
    typed = getattr(aqmlab, _generate.class_name(page))
    fields = {field.name.rstrip("_") for field in dataclasses.fields(typed)}
    assert fields == {p.name for p in page.parameters}
    assert (page.name if page.has_kind else None) == typed.KIND


def test_defaults_are_accepted_as_values(small: dict[str, Any]) -> None:
    full = json.loads(normalize(small))
    assert json.loads(normalize(full)) == full


def test_every_source_is_in_the_bibliography() -> None:
    known = set(re.findall(r"@\w+\{([^,]+),", Path("references.bib").read_text()))
    key = re.compile(r"\b(?:rfc\d+|[a-z]+(?:19|20)\d\d[a-z0-9]*)\b")
    cited = {c for page in manual.pages().values() for p in page.parameters
             for c in key.findall(p.source)}  # fmt: skip
    for folder, pattern in (("crates", "*.rs"), ("python", "*.py"), ("docs", "*.md")):
        for path in Path(folder).rglob(pattern):
            cited |= set(re.findall(rf"`({key.pattern})`", path.read_text("utf-8")))
    words = {w for page in manual.pages().values() for p in page.parameters for w, _ in p.choices}
    assert cited - known - words == set()


@pytest.mark.parametrize("page", manual.in_category("queues"), ids=lambda p: p.name)
def test_every_default_of_a_queue_has_a_source(page: manual.Page) -> None:
    assert [p.name for p in page.parameters if not p.required and not p.source] == []


def test_the_page_of_tcp_has_at_most_100_lines_and_refers_to_its_tables() -> None:
    text = explanation("tcp")
    lines = text.splitlines()
    assert len(lines) <= 100
    assert max(map(len, lines)) <= 100
    tables = [page.name for page in manual.in_category("tcp") if page.name.startswith("tcp.")]
    assert len(tables) == 10
    for table in tables:
        assert f"`aqmlab explain {table}`" in " ".join(text.split())
        assert explanation(table).startswith(f"NAME\n    {table} (tcp)")


def test_explain_accepts_the_path_of_every_key_of_tcp() -> None:
    for old, new in manual.pages()["tcp"].renamed.items():
        assert explanation(f"tcp.{new}").startswith(f"tcp.{new}")
        with pytest.raises(ValueError, match=rf"tcp\.{old} is now tcp\.{new};"):
            explanation(f"tcp.{old}")


def test_the_page_of_a_stack_lists_the_keys_that_it_sets(small: dict[str, Any]) -> None:
    tcp = json.loads(normalize(small | {"tcp": {"stack": "linux"}}))["tcp"]
    implied = manual.implied_keys(manual.pages()["tcp"], "stack.linux")
    page = explanation("tcp.stack.linux")
    assert len(implied) > 60
    for path, value in implied:
        setting = tcp
        for key in path.split("."):
            setting = setting[key]
        assert setting == value or (path == "congestion" and setting["kind"] == "cubic")
        assert path in page


def test_a_text_for_a_table_changes_only_its_main_key(small: dict[str, Any]) -> None:
    scenario = small | {"tcp": {"sack": True, "recovery": {"method": "sack", "rack": True}}}
    changed = aqmlab.scenario.changed(scenario, [("tcp.recovery", "fack")])
    assert changed["tcp"]["recovery"] == {"method": "fack", "rack": True}
    changed = aqmlab.scenario.changed(changed, [("tcp.ecn", "rfc3168"), ("tcp.ecn.ect1", "true")])
    assert changed["tcp"]["ecn"] == {"mode": "rfc3168", "ect1": True}


def test_a_scenario_accepts_typed_tables_of_tcp(small: dict[str, Any]) -> None:
    tcp = aqmlab.Tcp(ecn="rfc3168", rto=aqmlab.TcpRto(min="300 ms"))
    read = json.loads(normalize(small | {"tcp": tcp}))["tcp"]
    assert (read["ecn"]["mode"], read["rto"]["min"], read["rto"]["initial"]) == (
        "rfc3168", "300 ms", "1 s",
    )  # fmt: skip
