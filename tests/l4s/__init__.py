"""Pairs of flows over L4S and classic queues beside real hosts."""
