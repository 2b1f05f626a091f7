"""Closed forms and fluid models of queues and of TCP, a file a family.

Each says which quantities it has, in which units, and by which source; what a run measures is
set beside them by :mod:`aqmlab.models.beside`.

At hand were the texts of RFCs and of "The power of explicit congestion notification".
Equations, their numbers and printed values of the other papers are as the literature cites
them; tests hold them against each other, against the RFCs' tables, and against runs.
"""
