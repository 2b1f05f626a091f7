"""The preset ``linux`` beside eight configurations measured on a real kernel (``tests/kernel``)."""

from kernel import compare
from validation.row import HOLDS


def test_the_preset_linux_does_what_the_kernel_does() -> None:
    rows = [row for config in compare.measured() for row in compare.compare(config)]
    assert len(rows) == 33
    labels = {(config, compare.MEASURES[name][0]) for config, name in compare.CAUSES}
    assert {(row.setting, row.measure) for row in rows if row.verdict != HOLDS} == labels
