"""Analytic models of queues and of TCP, in closed form or as a fluid.

Each file has one family of models. Each model documents its quantities, their units and its source.
:mod:`aqmlab.models.comparison` compares the models with the measurements of a run.

The texts of the RFCs and of "The power of explicit congestion notification" were available.
Equations, equation numbers and published values of the other papers are taken from the literature
that cites these papers. Tests compare the equations and values with each other, with the tables of
the RFCs, and with runs.
"""
