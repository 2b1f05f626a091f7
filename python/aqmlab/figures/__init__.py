"""Figures of a run and of its flows, with their common style and file formats.

The figures do not use pyplot, so they share no state and need no display.
"""

from aqmlab.figures.files import FORMATS, lay_out, refuse_foreign, save
from aqmlab.figures.flow import rtt, sequence, windows
from aqmlab.figures.run import queue, window

__all__ = [
    "FORMATS",
    "lay_out",
    "queue",
    "refuse_foreign",
    "rtt",
    "save",
    "sequence",
    "window",
    "windows",
]
