"""Fluid model of TCP and a queue: equilibrium, linear response, and solution over time.

The model is that of `misra2000fluid`. `network.py` models N Reno flows through one link, and their
response to the signal probability. `controllers.py` models RED, PI, PIE and PI2 as controllers.
`margins.py` computes the crossover frequencies and the stability margins of the closed loop.
`over_time.py` solves the delay-differential equations. `design.py` has published rules for the
coefficients of PI and RED.
"""
