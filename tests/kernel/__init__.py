"""Comparison of the simulator with a real Linux kernel."""
