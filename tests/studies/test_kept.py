"""Verdicts of a whole study: stored, compared with a whole run and with a quick form."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from aqmlab import studies
from aqmlab.studies.framework import Published, Study, kept
from aqmlab.studies.framework.claims import FITTED, INPUT, MEASURED, Decision, exactly
from aqmlab.studies.framework.kept import BEGIN, END, Kept
from aqmlab.studies.framework.output import CLAIMS, MANIFEST, README
from aqmlab.studies.framework.summary import _by_verdict
from aqmlab.studies.framework.verdicts import (
    ABSENT,
    CONTRADICTED,
    NOT_TESTABLE,
    OPEN,
    REPRODUCED,
    SINGLE_RUN,
)


def claim(number: str, value: float = 1) -> Published:
    return Published(number, "says something", "a", value, "1", "", "", "exact")


def test_verdicts_are_held_against_those_of_the_whole_study() -> None:
    now = {"A": REPRODUCED, "B": REPRODUCED, "C": OPEN, "D": ABSENT, "E": NOT_TESTABLE, "F": OPEN}
    was = now | {"B": CONTRADICTED, "C": REPRODUCED, "D": REPRODUCED}
    found = kept.compare([(claim(n), Decision("", v, "")) for n, v in now.items()], was)
    assert found == kept.Agreement(("A", "F"), ("B",), ("C",), ("D",))
    assert found.told == (
        "2 of 3 verdicts are those of the whole study; otherwise: B; open with so few "
        "replications: C; not in the quick form: D."
    )
    alike = kept.compare([(claim("A"), exactly(claim("A"), 1, ""))], {"A": REPRODUCED})
    assert alike.told == "1 of 1 verdicts are those of the whole study."


def test_the_score_counts_measured_claims_alone() -> None:
    found = [
        (MEASURED, REPRODUCED), (MEASURED, SINGLE_RUN), (MEASURED, CONTRADICTED),
        (MEASURED, OPEN), (MEASURED, NOT_TESTABLE), (INPUT, REPRODUCED), (FITTED, REPRODUCED),
    ]  # fmt: skip
    assert kept.score(found) == (
        "2 of 4 measured claims reproduced (1 as a single run), 1 contradicted, 1 open. Not "
        "counted: 1 input or arithmetic, 1 fitted, 1 not testable."
    )


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """A study whose stored verdicts and README are in a folder of the test."""
    there = studies.load("rfc2884")
    (tmp_path / "study" / "published").mkdir(parents=True)
    path = tmp_path / "study" / "published" / "claims.csv"
    shutil.copy(there.claims.path, path)
    (path.parents[1] / "README.md").write_text(f"# A\n\n{BEGIN}\n\nold\n\n{END}\n\nrest\n")
    return replace(there, claims=replace(there.claims, path=path))


@pytest.fixture
def folder(tmp_path: Path, study: Study) -> Path:
    """The folder that a whole run left."""
    made = tmp_path / "results"
    made.mkdir()
    items = [item.name for item in study.items]
    manifest = {"study": study.name, "quick": False, "changes": {}, "items": items}
    (made / MANIFEST).write_text(json.dumps(manifest))
    (made / CLAIMS).write_text(
        f"id,statement,basis,ours,verdict,evidence\nA,says,{MEASURED},3,{REPRODUCED},seen\n"
    )
    (made / README).write_text("**new**\n")
    return made


def test_a_whole_run_is_kept_and_compared(folder: Path, study: Study) -> None:
    assert kept.check(folder, study), "nothing is kept yet"
    kept.keep(folder, study)
    assert study.kept.read_text() == f"id,basis,ours,verdict\nA,{MEASURED},3,{REPRODUCED}\n"
    assert kept.read(study.kept) == {"A": REPRODUCED}
    readme = (study.kept.parent / "README.md").read_text()
    assert readme == f"# A\n\n{BEGIN}\n\n**new**\n\n{END}\n\nrest\n"
    assert kept.check(folder, study) == []
    changed = (folder / CLAIMS).read_text().replace(REPRODUCED, OPEN)
    (folder / CLAIMS).write_text(changed)
    (folder / README).write_text("**other**\n")
    assert kept.check(folder, study) == [
        "rfc2884: A: kept reproduced (3), now open (3)",
        "rfc2884: README.md: its numbers are not those of this run",
    ]


def test_a_claim_that_is_gone_or_of_another_class_is_a_difference() -> None:
    was = {"A": Kept(MEASURED, "1", OPEN), "B": Kept(MEASURED, "1", OPEN)}
    now = {"A": Kept(FITTED, "1", OPEN), "C": Kept(MEASURED, "1", OPEN)}
    assert kept.differences(was, now) == [
        "A: kept as measured, now fitted", "B: not decided now", "C: not kept"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "other", [{"quick": True}, {"changes": {"tcp.mss": "9 kB"}}, {"items": ["one"]}]
)
def test_only_a_whole_study_as_it_is_is_kept(
    folder: Path, study: Study, other: dict[str, object]
) -> None:
    manifest = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps(manifest | other))
    with pytest.raises(ValueError, match="does not have the whole study"):
        kept.keep(folder, study)


def test_a_readme_without_the_part_that_a_run_writes_is_refused() -> None:
    with pytest.raises(ValueError, match="add both"):
        kept.with_block("# A\n", "new")


@pytest.mark.nightly
@pytest.mark.parametrize("name", studies.names())
def test_a_whole_run_has_the_kept_verdicts(tmp_path: Path, name: str) -> None:
    """Every claim, and every number of the README that the run writes."""
    study = studies.load(name)
    study.reproduce(out=tmp_path / name)
    assert kept.check(tmp_path / name, study) == []


def test_the_readme_of_a_quick_form_lists_the_claims_that_it_leaves_out() -> None:
    lines = _by_verdict([(claim("A"), Decision("", ABSENT, "Not run."))])
    assert lines == "- Not in the quick form: A."
