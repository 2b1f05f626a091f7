"""Tests of the properties that every study must have."""

import re

import pytest

from aqmlab import studies
from aqmlab.studies.framework import stored_verdicts
from aqmlab.studies.framework.claims import FITTED, INPUT, MEASURED
from aqmlab.studies.framework.every import readme


@pytest.mark.parametrize("name", studies.names())
def test_every_claim_has_a_function_and_every_function_a_claim(name: str) -> None:
    study = studies.load(name)
    ids = [claim.id for claim in study.claims.published()]
    assert len(ids) == len(set(ids)) >= 30
    assert set(study.claims.functions) == set(ids)
    items = {item.name for item in study.items}
    for needed, _ in study.claims.functions.values():
        assert needed
        assert items.issuperset(needed)


@pytest.mark.parametrize("name", studies.names())
def test_every_claim_has_a_stored_verdict_of_its_class(name: str) -> None:
    study = studies.load(name)
    stored = stored_verdicts.read_claims(study.verdicts_path)
    assert {claim: of.basis for claim, of in stored.items()} == {
        claim.id: claim.basis for claim in study.claims.published()
    }


@pytest.mark.parametrize("name", studies.names())
def test_every_claim_that_is_not_counted_has_a_reason(name: str) -> None:
    study = studies.load(name)
    ids = {claim.id for claim in study.claims.published()}
    assert set(study.claims.apart) <= {INPUT, FITTED}
    apart = [claim for listed in study.claims.apart.values() for claim in listed]
    assert len(apart) == len(set(apart)), "a claim belongs to two classes"
    assert ids.issuperset(apart)
    for claim in study.claims.published():
        assert bool(claim.reason) == (not claim.counted)


@pytest.mark.parametrize("name", studies.names())
def test_each_choice_of_a_study_has_evidence(name: str) -> None:
    study = studies.load(name)
    assert study.choices
    for choice in study.choices:
        assert choice.setting
        assert choice.taken
        assert choice.evidence
    if study.claims.apart.get(FITTED):
        assert any(choice.fitted_to for choice in study.choices), (
            "the study has fitted numbers, but no choice names a fitted number"
        )


@pytest.mark.parametrize("name", studies.names())
def test_no_claim_uses_items_with_other_readings(name: str) -> None:
    study = studies.load(name)
    explain = {item.name for item in study.items if not item.scored}
    assert explain, "the study has no item about other readings of the paper"
    for claim, (items, _) in study.claims.functions.items():
        assert explain.isdisjoint(items), claim


@pytest.mark.parametrize("name", studies.names())
def test_the_readme_has_the_stored_score_and_verdicts(name: str) -> None:
    """The README of the study has the score, and lists every claim under its verdict."""
    study = studies.load(name)
    whole = stored_verdicts.read_claims(study.verdicts_path)
    text = re.sub(
        r"\n  ", " ", stored_verdicts.block(readme(name))
    )  # Join the wrapped lines of list items.
    score = stored_verdicts.score((of.basis, of.verdict) for of in whole.values())
    assert score in " ".join(text.split())
    listed = {
        claim: line[2:].split(":")[0].lower()
        for line in text.split("### Misses")[0].splitlines()
        if line.startswith("- ")
        for claim in re.findall(r"[A-Z0-9]{2}-\d{3}", line)
    }
    assert listed == {
        claim: of.verdict
        if of.basis == MEASURED
        else f"claims that {stored_verdicts.NOT_COUNTED[of.basis]}"
        for claim, of in whole.items()
    }


COUNTED = re.compile(r"\[−?-?[\d.]+ to |\d+ of \d+ (?:claims|cells|published)|± ?\d")
"""Pattern that matches a confidence interval or a count of claims, cells or published numbers."""


@pytest.mark.parametrize("name", studies.names())
def test_a_readme_has_intervals_and_scores_only_in_its_generated_block(name: str) -> None:
    text = readme(name)
    by_hand = text.replace(stored_verdicts.block(text), "")
    assert not COUNTED.findall(by_hand)


@pytest.mark.parametrize("name", studies.names())
def test_the_published_files_have_no_absolute_paths(name: str) -> None:
    for path in studies.load(name).claims.path.parent.iterdir():
        text = path.read_text("utf-8")
        assert not re.search(r"(?<![\w.])/(?:tmp|home|root|work|usr/local)/", text), path
