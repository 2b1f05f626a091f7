"""What each paper of a queue shows as its point, measured here and drawn.

    .venv/bin/python -m examples.points FOLDER [POINT…]

Runs every point (or those named), prints what was measured with 95 % confidence intervals over
replications, and leaves a figure of each in FOLDER. docs/aqm-points.md says what the papers state;
tests/test_points.py holds the same measurements against it.
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
from .point import Point

POINTS: dict[str, Point] = {
    "spacing": spacing.POINT,
    "adaptive-red": adaptive_red.POINT,
    "target-delay": target_delay.POINT,
    "pi": pi.POINT,
    "rem": rem.POINT,
    "unresponsive": unresponsive.POINT,
    "sfb": sfb.POINT,
    "choke": choke.POINT,
    "blue": blue.POINT,
    "codel": codel.POINT,
    "rio": rio.POINT,
    "sparse": sparse.POINT,
    "dualpi2": dualpi2.POINT,
    "idle": idle.POINT,
}
