"""Comparisons of aqmlab with other simulators, real hosts and closed forms.

A peer is a simulator, a host or a formula with which aqmlab is compared. Each peer has one module
in this package. ``make validate`` runs every installed peer and writes ``docs/validation.md``.
``row.py`` defines a comparison, and ``peer.py`` defines the interface of a peer.
"""
