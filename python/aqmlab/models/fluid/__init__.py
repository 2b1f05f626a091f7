"""The fluid of TCP and a queue: at rest, linearized, and over time (`misra2000fluid`).

`network.py`: N Reno flows through one link, and their response to the signal probability.
`laws.py`: RED, PI, PIE and PI2 as controllers. `margins.py`: the loop of both, where it
crosses, how far it is from instability. `over_time.py`: the delay-differential equations
themselves. `design.py`: the published rules for coefficients.
"""
