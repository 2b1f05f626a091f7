"""The simulator beside a real Linux kernel."""
