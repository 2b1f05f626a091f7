"""Comparison of pairs of flows over L4S and classic queues with real hosts."""
