"""Measure what each paper of a queue shows as its point, print it, and leave figures in FOLDER."""

import argparse
from pathlib import Path

from aqmlab import figures

from . import POINTS
from .point import words


def main() -> None:
    """Do what the command says."""
    parser = argparse.ArgumentParser("python -m examples.points", description=__doc__)
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="where the figures go")
    parser.add_argument(
        "points", metavar="POINT", nargs="*", help=f"{', '.join(POINTS)}; default: all"
    )
    asked = parser.parse_args()
    unknown = [name for name in asked.points if name not in POINTS]
    if unknown:
        parser.error(f"{unknown[0]!r} is no point; there are {', '.join(POINTS)}")
    asked.folder.mkdir(parents=True, exist_ok=True)
    for name in asked.points or POINTS:
        point = POINTS[name]
        table = point.measure(point.replications)
        print(f"{name}\n{words(point, table)}\n", flush=True)
        for suffix in ("svg", "png"):
            figures.save(point.draw(table), asked.folder / f"{name}.{suffix}")


if __name__ == "__main__":
    main()
