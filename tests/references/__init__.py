"""Slow, literal references of the queues: each law as its paper or RFC writes it, in plain Python.

They share nothing with the simulator but the random numbers, which `draws` makes anew.
"""
