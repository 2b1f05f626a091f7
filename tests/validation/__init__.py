"""Comparisons of aqmlab with other simulators, real hosts and closed forms.

``make validate`` runs every peer that is installed and writes ``docs/validation.md``. Each peer is
one module of this package. ``row.py`` defines a comparison, ``peer.py`` the interface of a peer.
"""
