"""Tests of stored verdicts: comparison with a whole run and with a quick form of a study."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from aqmlab import studies
from aqmlab.studies.framework import Published, Study, stored_verdicts
from aqmlab.studies.framework.claims import FITTED, INPUT, MEASURED, Decision, exactly
from aqmlab.studies.framework.files import CLAIMS, MANIFEST, README
from aqmlab.studies.framework.stored_verdicts import BEGIN, END, StoredClaim
from aqmlab.studies.framework.summary import _by_verdict
from aqmlab.studies.framework.verdicts import (
    ABSENT,
    CONTRADICTED,
    NOT_TESTABLE,
    OPEN,
    REPRODUCED,
    SINGLE_RUN,
    UNDECIDED,
)


def claim(number: str, value: float = 1) -> Published:
    return Published(number, "a statement", "a", value, "1", "", "", "exact")


def test_quick_verdicts_are_compared_with_those_of_the_whole_study() -> None:
    now = {"A": REPRODUCED, "B": REPRODUCED, "C": OPEN, "D": ABSENT, "E": NOT_TESTABLE, "F": OPEN}
    whole = now | {"B": CONTRADICTED, "C": REPRODUCED, "D": REPRODUCED}
    agreement = stored_verdicts.compare(
        [(claim(n), Decision("", v, "")) for n, v in now.items()], whole
    )
    assert agreement == stored_verdicts.Agreement(("A", "F"), ("B",), ("C",), ("D",))
    assert agreement.sentence == (
        "2 of 3 verdicts are equal to those of the whole study; different verdicts: B; open "
        "because of few replications: C; not in the quick form: D."
    )
    alike = stored_verdicts.compare([(claim("A"), exactly(claim("A"), 1, ""))], {"A": REPRODUCED})
    assert alike.sentence == "1 of 1 verdicts are equal to those of the whole study."


def test_the_score_counts_only_measured_claims() -> None:
    claims = [
        (MEASURED, REPRODUCED), (MEASURED, SINGLE_RUN), (MEASURED, CONTRADICTED),
        (MEASURED, OPEN), (MEASURED, NOT_TESTABLE), (INPUT, REPRODUCED), (FITTED, REPRODUCED),
        (MEASURED, UNDECIDED),
    ]  # fmt: skip
    assert stored_verdicts.score(claims) == (
        "2 of 4 measured claims reproduced (1 within the spread of single runs), 1 contradicted, "
        "1 open. Claims that the score does not count: 1 that follows from inputs or arithmetic, 1 "
        "that was used to choose a setting, 1 not testable, 1 that cannot be decided."
    )


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Return a study whose stored verdicts and README are in a temporary folder."""
    original = studies.load("rfc2884")
    (tmp_path / "study" / "published").mkdir(parents=True)
    path = tmp_path / "study" / "published" / "claims.csv"
    shutil.copy(original.claims.path, path)
    (path.parents[1] / "README.md").write_text(f"# A\n\n{BEGIN}\n\nold\n\n{END}\n\nrest\n")
    return replace(original, claims=replace(original.claims, path=path))


@pytest.fixture
def folder(tmp_path: Path, study: Study) -> Path:
    """Return a folder with the results of a whole run of the study."""
    results = tmp_path / "results"
    results.mkdir()
    items = [item.name for item in study.items]
    manifest = {"study": study.name, "quick": False, "changes": {}, "items": items}
    (results / MANIFEST).write_text(json.dumps(manifest))
    (results / CLAIMS).write_text(
        f"id,statement,basis,ours,verdict,evidence\nA,says,{MEASURED},3,{REPRODUCED},seen\n"
    )
    (results / README).write_text("**new**\n")
    return results


def test_the_verdicts_of_a_whole_run_are_stored_and_compared(folder: Path, study: Study) -> None:
    assert stored_verdicts.check(folder, study), (
        "without stored verdicts, the check must report a difference"
    )
    stored_verdicts.store(folder, study)
    stored = study.verdicts_path.read_text()
    assert stored == f"id,basis,ours,verdict\nA,{MEASURED},3,{REPRODUCED}\n"
    assert stored_verdicts.read_verdicts(study.verdicts_path) == {"A": REPRODUCED}
    readme = (study.verdicts_path.parent / "README.md").read_text()
    assert readme == f"# A\n\n{BEGIN}\n\n**new**\n\n{END}\n\nrest\n"
    assert stored_verdicts.check(folder, study) == []
    changed = (folder / CLAIMS).read_text().replace(REPRODUCED, OPEN)
    (folder / CLAIMS).write_text(changed)
    (folder / README).write_text("**other**\n")
    assert stored_verdicts.check(folder, study) == [
        "rfc2884: A: stored reproduced (3), now open (3)",
        "rfc2884: README.md: the results differ from those of this run",
    ]


def test_differences_list_missing_claims_and_other_classes() -> None:
    stored = {"A": StoredClaim(MEASURED, "1", OPEN), "B": StoredClaim(MEASURED, "1", OPEN)}
    now = {"A": StoredClaim(FITTED, "1", OPEN), "C": StoredClaim(MEASURED, "1", OPEN)}
    assert stored_verdicts.differences(stored, now) == [
        "A: stored as measured, now fitted", "B: not decided now", "C: not stored"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "other",
    [{"quick": True}, {"changes": {"tcp.mss": "9 kB"}}, {"items": ["one"]}, {"seed": 9}],
)
def test_only_the_whole_unchanged_study_is_stored(
    folder: Path, study: Study, other: dict[str, object]
) -> None:
    manifest = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps(manifest | other))
    with pytest.raises(ValueError, match="does not have the whole study"):
        stored_verdicts.store(folder, study)


def test_a_readme_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="add both"):
        stored_verdicts.with_block("# A\n", "new")


@pytest.mark.nightly
@pytest.mark.parametrize("name", studies.names())
def test_a_whole_run_matches_the_stored_verdicts_and_readme(tmp_path: Path, name: str) -> None:
    """A whole run reproduces the stored verdict of every claim, and every number of the README."""
    study = studies.load(name)
    study.reproduce(out=tmp_path / name)
    assert stored_verdicts.check(tmp_path / name, study) == []


def test_the_readme_of_a_quick_form_lists_the_claims_that_it_leaves_out() -> None:
    lines = _by_verdict([(claim("A"), Decision("", ABSENT, "Not run."))])
    assert lines == "- Not in the quick form: A."
