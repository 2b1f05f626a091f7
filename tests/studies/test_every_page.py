"""Tests of `aqmlab reproduce --all`: the page about all studies, and refused options."""

from collections import Counter
from pathlib import Path

import pytest

from aqmlab import studies
from aqmlab.command.main import execute
from aqmlab.report import write_report
from aqmlab.studies.framework.claims import MEASURED, Decision
from aqmlab.studies.framework.every import LESSONS, StudyResult, page, readme, section
from aqmlab.studies.framework.summary import bases, verdicts
from aqmlab.studies.framework.verdicts import CONTRADICTED, OPEN, REPRODUCED


@pytest.mark.parametrize("name", studies.names())
def test_every_readme_has_lessons(name: str) -> None:
    points = section(readme(name), LESSONS)
    assert len(points) > 2
    assert not any("**" in point or "`" in point for point in points)


def result(name: str) -> StudyResult:
    """Return the result of a study in which every third claim is reproduced."""
    study = studies.load(name)
    claims = [
        (claim, Decision("1", [REPRODUCED, CONTRADICTED, OPEN][i % 3], "looked at"))
        for i, claim in enumerate(study.claims.published())
    ]
    counts = verdicts(claims)
    answers = study.opening.answers(claims) if study.opening else []
    cells = Counter({REPRODUCED: 3})
    return StudyResult(
        name, study.title, claims, counts, cells, 7, 1.0, answers, study.misses
    )  # fmt: skip


def test_the_page_counts_the_claims_of_each_study(tmp_path: Path) -> None:
    every = [result(name) for name in studies.names()]
    report = page(every, quick=False, seconds=60.0)
    total = sum(bases(one.claims)[MEASURED] for one in every)
    shown = {score.label: score for score in report.scores}
    assert shown["claims reproduced"].of == f"of {total}"
    labels = ("claims reproduced", "claims contradicted", "claims open")
    assert sum(int(shown[label].count) for label in labels) == total
    overview = report.chapters[0].tables[-1].entries()
    for i, label in enumerate(labels, 1):
        assert sum(int(row[i].text) for row in overview) == int(shown[label].count)
    write_report(report, tmp_path / "index.html")
    text = (tmp_path / "index.html").read_text()
    for name in studies.names():
        assert studies.load(name).title in text
        assert section(readme(name), LESSONS)[0][:40] in text.replace("&#39;", "'")
        missed = [c.id for c, d in result(name).claims if c.counted and d.verdict == CONTRADICTED]
        assert all(f"{claim}<" in text for claim in missed)


@pytest.mark.nightly
def test_all_studies_in_their_quick_form(tmp_path: Path) -> None:
    assert execute(["reproduce", "--all", "--quick", "--out", str(tmp_path / "all")]) == 0
    for name in studies.names():
        assert (tmp_path / "all" / name / "report.html").exists()


def test_the_option_all_refuses_a_study_and_a_claim(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["reproduce", "rfc2884", "--all"]) == 2
    assert "select or change a study; leave out STUDY" in capsys.readouterr().err
    assert execute(["reproduce", "--all", "--claim", "R2-001"]) == 2
    assert "leave out --claim" in capsys.readouterr().err
    assert execute(["reproduce"]) == 2
    assert "STUDY is missing; give --all or the name of a study: ecn-" in capsys.readouterr().err
