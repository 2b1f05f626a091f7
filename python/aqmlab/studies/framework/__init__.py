"""What every study stands on: its items and runs, cells and verdicts, claims, folder and report."""
