"""Command line interface ``aqmlab``, with one file per command.

A command imports numpy, pandas and similar libraries only when it runs, so that its help appears
without delay. Every error is one line on stderr. The exit code is 2 for wrong input and 1 for a
defect of aqmlab. After an interruption by a signal, the exit code is 128 plus the number of the
signal, for example 130 for Ctrl-C.
"""

from aqmlab.command.main import execute, main

__all__ = ["execute", "main"]
