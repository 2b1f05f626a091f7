"""Figures: of a run, of one of its flows, and the style and the files of all of them.

They are drawn without pyplot, so that nothing is shared between them and no display is needed.
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
