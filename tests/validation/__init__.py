"""aqmlab beside other simulators, real hosts and closed forms.

``make validate`` runs every peer that is installed and writes ``docs/validation.md``. A peer is one
file here. ``row.py`` defines a row, ``peer.py`` the interface of a peer.
"""
