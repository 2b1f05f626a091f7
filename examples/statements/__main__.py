"""Measure statements of the AQM papers, print the numbers, and write figures into FOLDER."""

import argparse
from pathlib import Path

from aqmlab import figures

from . import STATEMENTS
from .statement import numbers


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser("python -m examples.statements", description=__doc__)
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="folder of the figures")
    parser.add_argument(
        "statements", metavar="STATEMENT", nargs="*", help=f"{', '.join(STATEMENTS)}; default: all"
    )
    arguments = parser.parse_args()
    unknown = [name for name in arguments.statements if name not in STATEMENTS]
    if unknown:
        parser.error(f"{unknown[0]!r} is not a statement; choose from {', '.join(STATEMENTS)}")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name in arguments.statements or STATEMENTS:
        statement = STATEMENTS[name]
        table = statement.measure(statement.replications)
        print(f"{name}\n{numbers(statement, table)}\n", flush=True)
        for suffix in ("svg", "png"):
            figures.save(statement.draw(table), arguments.folder / f"{name}.{suffix}")


if __name__ == "__main__":
    main()
