"""Statements of the AQM papers: measurements and figures.

    .venv/bin/python -m examples.statements FOLDER [STATEMENT…]

The command measures the named statements, or all statements if none is named. The command prints
the measurements with 95 % confidence intervals over replications, and writes a figure of each
statement into FOLDER. docs/aqm-statements.md compares the statements with the measurements, and
tests/test_statements.py checks them.
"""

from . import (
    adaptive_red,
    blue,
    choke,
    codel,
    dualpi2,
    idle,
    pi,
    rem,
    rio,
    sfb,
    spacing,
    sparse,
    target_delay,
    unresponsive,
)
from .statement import Statement

STATEMENTS: dict[str, Statement] = {
    "spacing": spacing.STATEMENT,
    "adaptive-red": adaptive_red.STATEMENT,
    "target-delay": target_delay.STATEMENT,
    "pi": pi.STATEMENT,
    "rem": rem.STATEMENT,
    "unresponsive": unresponsive.STATEMENT,
    "sfb": sfb.STATEMENT,
    "choke": choke.STATEMENT,
    "blue": blue.STATEMENT,
    "codel": codel.STATEMENT,
    "rio": rio.STATEMENT,
    "sparse": sparse.STATEMENT,
    "dualpi2": dualpi2.STATEMENT,
    "idle": idle.STATEMENT,
}
