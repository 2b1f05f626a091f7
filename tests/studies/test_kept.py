"""Verdicts of a whole study, and those of a quick form beside them."""

import json
from pathlib import Path

import pytest

from aqmlab.studies.framework import Published, kept
from aqmlab.studies.framework.claims import Decision, direction, holds, none
from aqmlab.studies.framework.output import MANIFEST
from aqmlab.studies.framework.verdicts import (
    ABSENT,
    NOT_REPRODUCED,
    NOT_TESTABLE,
    OPEN,
    REPRODUCED,
    WITHIN_SPREAD,
)


def claim(number: str, value: float = 1) -> Published:
    return Published(number, "says something", "a", value, "1", "", "", "exact")


def test_a_direction_is_open_for_few_only_where_its_interval_holds_0() -> None:
    wide, above, below = ([-1, 3, 2], [1, 1.1, 1.2], [-1, -1.1, -1.2])
    decided = [direction(claim("A"), d, "") for d in (wide, above, below)]
    assert [d.verdict for d in decided] == [NOT_REPRODUCED, REPRODUCED, NOT_REPRODUCED]
    assert [d.of_few.verdict for d in decided] == [OPEN, REPRODUCED, NOT_REPRODUCED]
    assert decided[0].of_few.evidence == decided[0].evidence
    assert Decision("1", WITHIN_SPREAD, "").of_few.verdict == OPEN
    assert none(claim("A", 0), 0.1, 0.2, "").of_few.verdict == REPRODUCED


def test_verdicts_are_held_against_those_of_the_whole_study() -> None:
    now = {"A": REPRODUCED, "B": REPRODUCED, "C": OPEN, "D": ABSENT, "E": NOT_TESTABLE}
    was = now | {"A": WITHIN_SPREAD, "B": NOT_REPRODUCED, "C": REPRODUCED, "D": REPRODUCED}
    found = kept.compare([(claim(n), Decision("", v, "")) for n, v in now.items()], was)
    assert found == kept.Agreement(("A",), ("B",), ("C",), ("D",))
    assert found.told == (
        "1 of 2 verdicts are those of the whole study; otherwise: B; open with so few "
        "replications: C; not in the quick form: D."
    )
    alike = kept.compare([(claim("A"), holds(True, 1, ""))], {"A": REPRODUCED})
    assert alike.told == "1 of 1 verdicts are those of the whole study."


@pytest.mark.parametrize(
    "other", [{"quick": True}, {"changes": {"tcp.mss": "9 kB"}}, {"items": ["one"]}]
)
def test_only_a_whole_study_as_it_is_is_kept(tmp_path: Path, other: dict[str, object]) -> None:
    manifest = {"quick": False, "changes": {}, "items": ["one", "two"]}
    rows = f"id,statement,ours,verdict,evidence\nA,says,3,{REPRODUCED},seen\n"
    (tmp_path / "claims.csv").write_text(rows)
    (tmp_path / MANIFEST).write_text(json.dumps(manifest))
    kept.keep(tmp_path, tmp_path / "kept.csv", ["one", "two"])
    assert (tmp_path / "kept.csv").read_text() == f"id,ours,verdict\nA,3,{REPRODUCED}\n"
    assert kept.read(tmp_path / "kept.csv") == {"A": REPRODUCED}
    (tmp_path / MANIFEST).write_text(json.dumps(manifest | other))
    with pytest.raises(ValueError, match="does not have the whole study"):
        kept.keep(tmp_path, tmp_path / "kept.csv", ["one", "two"])
