"""Analytic models of queues and of TCP: closed formulas and fluid models.

Each file has one family of models. The description of each model states its quantities, their units
and its source. :mod:`aqmlab.models.comparison` compares the models with the measurements of a run.

The sources that were available in full are the RFCs and "The power of explicit congestion
notification". The equations, equation numbers and published values of all other papers are taken
from literature that cites these papers. Tests compare the equations and values with each other,
with tables in RFCs, and with runs.
"""
