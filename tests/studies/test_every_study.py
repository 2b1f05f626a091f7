"""What holds for every study."""

import re

import pytest

from aqmlab import studies
from aqmlab.studies.framework import kept

CLAIMS = {
    "ecn-finite-transfers": 76,
    "ecn-red-simulation": 30,
    "red-wired-testbed": 143,
    "power-of-ecn": 49,
    "rfc2884": 39,
}


@pytest.mark.parametrize("name", studies.names())
def test_every_claim_has_a_function_and_every_function_a_claim(name: str) -> None:
    study = studies.load(name)
    ids = [claim.id for claim in study.claims.published()]
    assert len(ids) == len(set(ids)) == CLAIMS.get(name, len(ids))
    assert set(study.claims.functions) == set(ids)
    items = {item.name for item in study.items}
    for needed, _ in study.claims.functions.values():
        assert needed
        assert items.issuperset(needed)


@pytest.mark.parametrize("name", studies.names())
def test_every_claim_that_a_quick_form_decides_has_a_kept_verdict(name: str) -> None:
    study = studies.load(name)
    if study.quick and study.quick.whole:
        published = study.claims.published()
        assert list(kept.read(study.quick.whole)) == [claim.id for claim in published]


@pytest.mark.parametrize("name", studies.names())
def test_the_copied_notes_name_no_path_of_a_machine(name: str) -> None:
    for path in studies.load(name).claims.path.parent.iterdir():
        text = path.read_text("utf-8")
        assert not re.search(r"(?<![\w.])/(?:tmp|home|root|work|usr/local)/", text), path
