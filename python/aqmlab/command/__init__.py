"""Command line interface ``aqmlab``, with one file per command.

A command imports heavy libraries only when it runs, so that its help appears without delay. Every
error is one line on stderr. The exit code is 2 for wrong input, 1 for a defect of aqmlab, and 128
plus the number of the signal for an interruption, which is 130 for Ctrl-C.
"""

from aqmlab.command.main import execute, main

__all__ = ["execute", "main"]
