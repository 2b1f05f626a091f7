"""Fluid model of TCP and a queue: equilibrium, linear response, and solution over time.

The model is that of `misra2000fluid`. `network.py` has N Reno flows through one link and their
response to the signal probability. `controllers.py` has RED, PI, PIE and PI2 as controllers.
`margins.py` has the closed loop of a network and a controller, with its crossover frequencies and
stability margins. `over_time.py` solves the delay-differential equations. `design.py` has published
rules for the coefficients.
"""
