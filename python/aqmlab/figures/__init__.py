"""Figures of runs, flows, experiments and models.

The figures do not use pyplot, so that several figures can be drawn independently, without a
display.
"""

from aqmlab.figures.files import FORMATS, check_image, lay_out, refuse_foreign, save, save_all
from aqmlab.figures.flow import rtt, sequence, windows
from aqmlab.figures.run import queue, window

__all__ = [
    "FORMATS",
    "check_image",
    "lay_out",
    "queue",
    "refuse_foreign",
    "rtt",
    "save",
    "save_all",
    "sequence",
    "window",
    "windows",
]
