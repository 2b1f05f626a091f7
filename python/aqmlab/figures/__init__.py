"""Figures of runs, flows, experiments and models.

The figures do not use pyplot, so that several figures can be drawn independently, without a
display.
"""

from aqmlab.figures.files import FORMATS, inline, lay_out, refuse_foreign, save
from aqmlab.figures.flow import rtt, sequence, windows
from aqmlab.figures.run import queue, window

__all__ = [
    "FORMATS",
    "inline",
    "lay_out",
    "queue",
    "refuse_foreign",
    "rtt",
    "save",
    "sequence",
    "window",
    "windows",
]
