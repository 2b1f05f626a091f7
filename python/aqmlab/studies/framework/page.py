"""Page of the documentation about all studies, from their stored verdicts.

`python -m aqmlab._generate` writes the page, docs/studies.md.
"""

from __future__ import annotations

from aqmlab import studies
from aqmlab.studies.framework import measured
from aqmlab.studies.framework.claims import Decision, Published
from aqmlab.studies.framework.stored_verdicts import read_claims, score, wrap
from aqmlab.studies.framework.study import Study

HEAD = """\
# Published studies, reproduced

aqmlab repeats five published studies of RED and ECN. This page has their answers: what each
publication found, what the reproduction finds, why both differ, and what to take from it today.
Numbers in brackets are 95 % intervals. `aqmlab reproduce STUDY` runs a study and writes its report.
The [findings](findings.md) are effects that appeared on the way.
"""


def stored(study: Study) -> list[tuple[Published, Decision]]:
    """Return the claims of a study with their stored numbers and verdicts."""
    decided = read_claims(study.verdicts_path)
    return [
        (claim, Decision(decided[claim.id].ours, decided[claim.id].verdict, ""))
        for claim in study.claims.published()
        if claim.id in decided
    ]


def text() -> str:
    """Return the page in Markdown."""
    every = [studies.load(name) for name in studies.names()]
    lessons = [
        f"- {study.opening.today} ([{study.title}](#{study.name}))"
        for study in every
        if study.opening and study.opening.today
    ]
    parts = [HEAD.strip(), "## What to take from them today", "\n".join(lessons)]
    for study in every:
        parts += [f'<a id="{study.name}"></a>', f"## {study.title}", *_answers(study)]
    return "\n\n".join(wrap(part) for part in parts) + "\n"


def _answers(study: Study) -> list[str]:
    """Return the answers and the score of a study as Markdown paragraphs."""
    claims = stored(study)
    answers = study.opening.answers(claims) if study.opening else []
    counts = score((claim.basis, decision.verdict) for claim, decision in claims)
    lines = [*(f"**{label}:** {sentence}" for label, sentence in answers), f"**Score:** {counts}"]
    if (of := measured.read(study)).claims:
        lines.append(f"**Over the kernel:** {measured.sentence(of, claims)}")
    folder = study.verdicts_path.parent.name
    readme = f"../python/aqmlab/studies/{folder}/README.md"
    lines.append(
        f"Run it with `aqmlab reproduce {study.name}`. Its [README]({readme}) has every verdict, "
        "and a cause for each claim that is not reproduced."
    )
    return lines
