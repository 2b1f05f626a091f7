"""Closed forms and fluid models of queues and of TCP, a file a family.

Each says which quantities it has, in which units, and by which source; what a run measures is
set beside them by :mod:`aqmlab.models.beside`.
"""
