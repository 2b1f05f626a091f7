"""The command ``aqmlab``, a file a command.

Heavy libraries are imported inside the commands that use them, so that help is there at once.
Whatever goes wrong is told in one line on stderr: exit code 2 for wrong input, 130 for Ctrl-C (128
and the number of the signal), 1 for a defect of aqmlab.
"""

from aqmlab.command.main import execute, main

__all__ = ["execute", "main"]
