"""Falsification: the verdicts on a study's claims under alternatives to its assumptions.

A publication leaves some settings open, and a study assumes a value for each of them. A study
declares alternatives to its assumptions. The function :func:`falsify` decides the claims under each
alternative, one at a time, with the same seeds. A claim is sensitive to an alternative if its
verdict changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from aqmlab._core import ScenarioError
from aqmlab.engine import Progress, Simulator, available_cores
from aqmlab.report import Chapter, Entry, Table
from aqmlab.results import NotMeasuredError
from aqmlab.studies.framework.claims import Decision, Published
from aqmlab.studies.framework.runs import Change, Form, Runs, unchanged
from aqmlab.studies.framework.show import KINDS
from aqmlab.studies.framework.verdicts import (
    ABSENT,
    CONTRADICTED,
    NOT_TESTABLE,
    REPRODUCED,
    SINGLE_RUN,
    UNDECIDED,
    UndecidableError,
)

if TYPE_CHECKING:
    from rich.console import Console

    from aqmlab.studies.framework.study import Item, Reproduction, Study

FLIP, CHANGE, SAME, SAME_RUNS = "flip", "other change", "same verdict", "same runs"
"""Effects of an alternative on a claim: a change between reproduced and contradicted, another
change of the verdict, other runs with the same verdict, and no change of the claim's runs."""
EFFECTS = (FLIP, CHANGE, SAME, SAME_RUNS)
NOT_SENSITIVE, NOT_TESTED = "not sensitive", "not tested"
UNDECIDED_THROUGHOUT = "undecided under every alternative"


@dataclass(frozen=True)
class Alternative:
    """Alternative to an assumption of a study.

    Attributes
    ----------
    about : str
        Description of the alternative.
    form : callable
        Function that returns the setting to run instead of a given setting. It returns a setting
        unchanged if the assumption does not concern the setting.
    changes : tuple of (str, str)
        Scenario keys and their values in TOML; a change applies to every scenario with the key.
    """

    about: str
    form: Form = unchanged
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True)
class Trial:
    """Decisions under one alternative.

    Attributes
    ----------
    alternative : Alternative
        The alternative.
    decisions : dict of str to Decision
        Decisions by claim id, for the claims with at least one run that the alternative changes.
    runs : int
        Number of changed runs that the claims read.
    """

    alternative: Alternative
    decisions: dict[str, Decision]
    runs: int

    def effect(self, claim: Published, decision: Decision) -> str:
        """Return the effect on a claim, one of `EFFECTS`, given the decision of the study."""
        if claim.id not in self.decisions:
            return SAME_RUNS
        verdicts = {_settled(decision), _settled(self.decisions[claim.id])}
        if len(verdicts) == 1:
            return SAME
        return FLIP if verdicts == {REPRODUCED, CONTRADICTED} else CHANGE


def _settled(decision: Decision) -> str:
    """Return a verdict; both kinds of "reproduced" count as equal."""
    return REPRODUCED if decision.verdict == SINGLE_RUN else decision.verdict


@dataclass(frozen=True)
class Falsification:
    """Verdicts on the claims of a study, and under each alternative.

    Attributes
    ----------
    claims : list of (Published, Decision)
        Testable claims, with the decisions under the assumptions of the study.
    trials : list of Trial
        Decisions under each alternative.
    """

    claims: list[tuple[Published, Decision]]
    trials: list[Trial]

    def sensitivity(self, claim: Published, decision: Decision) -> str:
        """Return the alternatives that change the verdict on a claim, as text."""
        under: dict[str, list[str]] = {}
        effects = [trial.effect(claim, decision) for trial in self.trials]
        for number, (trial, effect) in enumerate(zip(self.trials, effects, strict=True), 1):
            if effect in (FLIP, CHANGE):
                verdict = _settled(trial.decisions[claim.id])
                under.setdefault(verdict, []).append(f"A{number}")
        if under:
            return "; ".join(f"{verdict} under {', '.join(a)}" for verdict, a in under.items())
        if set(effects) <= {SAME_RUNS}:
            return NOT_TESTED
        decided = _settled(decision) in (REPRODUCED, CONTRADICTED)
        return NOT_SENSITIVE if decided else UNDECIDED_THROUGHOUT

    @property
    def counted(self) -> list[tuple[Published, Decision]]:
        """Claims that the score counts."""
        return [(claim, decision) for claim, decision in self.claims if claim.counted]

    @property
    def sentence(self) -> str:
        """Numbers of sensitive and other claims that the score counts."""
        results = Counter(self.sensitivity(*one) for one in self.counted)
        others = {
            NOT_SENSITIVE: "the same verdict under every alternative that changes their runs",
            UNDECIDED_THROUGHOUT: "more replications may decide them",
            NOT_TESTED: "no alternative changes their runs",
        }
        sensitive = results.total() - sum(results[name] for name in others)
        text = (
            f"{sensitive} of {results.total()} measured claims get another verdict under at least "
            f"one of {len(self.trials)} alternatives."
        )
        for name, reason in others.items():
            text += f" {results[name]} are {name}: {reason}." if results[name] else ""
        return text

    def effects(self, trial: Trial) -> Counter[str]:
        """Return how many of the claims that the score counts have each effect."""
        return Counter(trial.effect(claim, decision) for claim, decision in self.counted)

    def changed(self) -> Table:
        """Return the table of the measured claims whose verdict an alternative changes."""
        rows: list[list[str | Entry]] = []
        for claim, decision in self.counted:
            statement = Entry(f"{claim.statement} ({claim.scenario})", prose=True)
            verdict = Entry(decision.verdict, kind=KINDS.get(decision.verdict, ""))
            for number, trial in enumerate(self.trials, 1):
                if trial.effect(claim, decision) in (FLIP, CHANGE):
                    now = trial.decisions[claim.id]
                    about = Entry(f"A{number} {trial.alternative.about}", prose=True)
                    kind = KINDS.get(now.verdict, "")
                    under = Entry(_settled(now), kind=kind, note=f"Ours: {now.ours}")
                    rows.append([claim.id, statement, verdict, about, under])
        claims = len({row[0] for row in rows})
        head = ["Claim", "Statement", "Verdict", "Alternative", "Verdict under it"]
        return Table(f"{claims} claims whose verdict depends on an assumption", head, rows)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per claim and alternative, for falsification.csv."""
        rows = []
        for claim, decision in self.claims:
            for number, trial in enumerate(self.trials, 1):
                effect = trial.effect(claim, decision)
                now = trial.decisions.get(claim.id, decision)
                rows.append(
                    {
                        "id": claim.id,
                        "basis": claim.basis,
                        "statement": claim.statement,
                        "verdict": decision.verdict,
                        "ours": decision.ours,
                        "number": f"A{number}",
                        "alternative": trial.alternative.about,
                        "effect": effect,
                        "verdict_under_alternative": now.verdict,
                        "ours_under_alternative": now.ours,
                        "evidence_under_alternative": now.evidence,
                        "sensitivity": self.sensitivity(claim, decision),
                    }
                )
        return rows

    def chapter(self) -> Chapter:
        """Return the chapter of the report: the alternatives, and the effects on each claim."""
        text = [
            "The study assumes a value for each setting that the publication leaves open. Each "
            "alternative replaces one assumption, and the claims are decided again with the same "
            "seeds. A claim flips if its verdict changes between reproduced and contradicted. An "
            "empty field means that the alternative changes no run of the claim, and = means the "
            "same verdict with other runs. A claim that is not sensitive does not tell the "
            "alternatives apart. With few replications, a verdict can also become open by chance.",
            self.sentence,
        ]
        return Chapter(
            "falsification", "Falsification", text, [self._alternatives(), self._claims()]
        )

    def _alternatives(self) -> Table:
        rows: list[list[str | Entry]] = []
        for number, trial in enumerate(self.trials, 1):
            effects = self.effects(trial)
            counts = [str(effects[effect] or "") for effect in EFFECTS]
            about = Entry(trial.alternative.about, prose=True)
            rows.append([f"A{number}", about, str(trial.runs), *counts])
        heads = ["flips", "other changes", "same verdict", "same runs"]
        head = ["", "Alternative", "Changed runs", *(f"Claims: {name}" for name in heads)]
        return Table(f"{len(rows)} alternatives, and their effects on measured claims", head, rows)

    def _claims(self) -> Table:
        rows: list[list[str | Entry]] = []
        for claim, decision in self.claims:
            entries: list[str | Entry] = []
            for trial in self.trials:
                effect = trial.effect(claim, decision)
                if effect in (FLIP, CHANGE):
                    now = trial.decisions[claim.id]
                    kind = KINDS.get(now.verdict, "") * claim.counted
                    entries.append(Entry(_settled(now), kind=kind, note=f"Ours: {now.ours}"))
                else:
                    entries.append("=" if effect == SAME else "")
            kind = KINDS.get(decision.verdict, "") * claim.counted
            statement = Entry(f"{claim.statement} ({claim.scenario})", prose=True)
            result = Entry(self.sensitivity(claim, decision), prose=True)
            verdict = Entry(decision.verdict, kind=kind)
            rows.append([claim.id, statement, verdict, *entries, result])
        names = [f"A{number}" for number in range(1, len(self.trials) + 1)]
        head = ["Claim", "Statement", "Verdict", *names, "Sensitivity"]
        return Table(f"{len(rows)} claims under each alternative", head, rows)

    def show(self, console: Console) -> None:
        """Print the effects of each alternative, and the number of sensitive claims."""
        from rich.table import Table as Printed

        table = Printed(title="Falsification: effects of alternatives on the measured claims")
        table.add_column("")
        table.add_column("alternative", overflow="fold")
        for head in ("changed runs", "flips", "other changes", SAME, SAME_RUNS):
            table.add_column(head, justify="right")
        for number, trial in enumerate(self.trials, 1):
            effects = self.effects(trial)
            counts = [str(effects[effect] or "") for effect in EFFECTS]
            table.add_row(f"A{number}", trial.alternative.about, str(trial.runs), *counts)
        console.print(table, markup=False)
        console.print(self.sentence, markup=False)


def falsify(
    study: Study,
    base: Runs,
    items: Sequence[Item],
    claims: Sequence[tuple[Published, Decision]],
    changes: Sequence[Change] = (),
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Falsification:
    """Decide claims under each alternative of a study, one at a time, with the same seeds.

    An alternative repeats only the runs that it changes and that the claims read.

    Parameters
    ----------
    study : Study
        The study.
    base : Runs
        Runs of the study under its assumptions.
    items : sequence of Item
        Items that the runs belong to.
    claims : sequence of (Published, Decision)
        Claims, with the decisions under the assumptions of the study.
    changes : sequence of (str, str)
        Further alternatives: dotted paths of scenario keys, and their values in TOML.
    jobs : int, optional
        Number of threads; default: one per core.
    progress : callable, optional
        Function that is called with the number of finished decisions and the number of all
        decisions, over all alternatives.
    """
    alternatives = [*study.alternatives, *map(_of_change, changes)]
    decided = [(claim, was) for claim, was in claims if was.verdict != NOT_TESTABLE]
    trials: list[Trial] = []
    for alternative in alternatives:
        runs = base.under(alternative.form, alternative.changes, jobs or available_cores())
        absent: dict[str, NotMeasuredError | UndecidableError] = {}
        for item in items:
            runs.request(item.needs())
        for item in items:
            runs.request(item.later(runs, absent))
        runs.changed_reads()
        decisions: dict[str, Decision] = {}
        changed: set[bytes] = set()
        for number, (claim, _) in enumerate(decided):
            if progress:
                done = len(trials) * len(decided) + number
                progress(done, len(alternatives) * len(decided))
            try:
                decision = study.claims.decision(runs, claim, absent)
            except ScenarioError as failed:
                decision = Decision("", UNDECIDED, f"A run failed: {failed}.")
            if read := runs.changed_reads():
                decisions[claim.id] = decision
                changed |= read
        trials.append(Trial(alternative, decisions, len(changed)))
    return Falsification(decided, trials)


def falsified(
    reproduction: Reproduction,
    changes: Sequence[Change],
    jobs: int | None,
    console: Console | None,
) -> Falsification:
    """Return the falsification of a reproduced study; with a console, show a progress bar."""
    from aqmlab.progress import Bar

    claims = [(claim, was) for claim, was in reproduction.claims if was.verdict != ABSENT]
    study, items, runs = reproduction.study, reproduction.items, reproduction.runs
    if console is None:
        return falsify(study, runs, items, claims, changes, jobs)
    with Bar() as bar:
        return falsify(study, runs, items, claims, changes, jobs, bar)


def check(study: Study, items: Sequence[Item], changes: Sequence[Change], *, quick: bool) -> None:
    """Check that a study can be falsified, before its runs.

    Raises
    ------
    ValueError
        If the items have no claims, if no alternative exists, or if a change is wrong.
    """
    if quick and not (study.quick and study.quick.claims):
        raise ValueError(
            f"--falsify: the quick form of {study.name} decides no claims; use --only and "
            "--replications instead of --quick"
        )
    if not study.claims.about(item.name for item in items):
        raise ValueError(
            f"--falsify: no claim of {study.name} is about only these items; choose other items"
        )
    if not (study.alternatives or changes):
        raise ValueError(
            f"--falsify: {study.name} has no alternatives; give one with --set KEY=VALUE"
        )
    for change in changes:
        runs = Runs(1, study.reduce, Simulator(), changes=[change])
        for item in items:
            runs.request(replace(need, replications=(0,)) for need in item.needs())
        runs.check_changes()


def _of_change(change: Change) -> Alternative:
    """Return the alternative that ``--set`` describes."""
    key, value = change
    return Alternative(f"--set {key} = {value}", changes=(change,))
