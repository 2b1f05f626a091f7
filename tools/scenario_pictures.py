#!/usr/bin/env python3
"""Run the first commands of docs/scenarios.md, and write their figures into docs/scenarios/.

The first command of each section is a comparison, and the picture of the section is one of its
figures, or that of a command `aqmlab plot` that follows it. The script also prints the tables,
which contain the numbers of the page.

Usage: tools/scenario_pictures.py [NAME ...]
"""

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo

DOCS = Path(__file__).parent.parent / "docs"
FIGURES = {
    "cable": "queue-2", "data-centre": "fairness", "dsl": "queue-2", "parking-lot": "fairness",
    "rfc7928-rtt": "round-trips",
}  # fmt: skip
"""Figure of a section's comparison that the section shows; default: queue."""
COLOURS = 64
"""Number of colours of a picture, which makes the files of the repository three times smaller."""


def sections(page: str) -> dict[str, str]:
    """Return the text of each section of the page, by name of the scenario."""
    parts = re.split(r"^## `(.+)`$", page, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def commands(section: str) -> list[list[str]]:
    """Return the arguments of the commands in the first code block of a section."""
    block = section.partition("```sh\n")[2].partition("\n```")[0]
    return [shlex.split(line)[1:] for line in block.replace("\\\n", "").splitlines()]


def shrink(picture: Path) -> None:
    """Reduce the colours of a PNG file to `COLOURS`; the texts of its metadata remain."""
    with Image.open(picture) as image:
        texts = PngInfo()
        for key, text in image.info.items():
            if isinstance(text, str):
                texts.add_itxt(key, text)
        image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(
            picture, pnginfo=texts, dpi=image.info["dpi"], optimize=True
        )


def draw(name: str, section: str) -> None:
    """Run the commands of a section, and write its picture to docs/scenarios/NAME.png."""
    picture = DOCS / "scenarios" / f"{name}.png"
    with tempfile.TemporaryDirectory() as folder:
        for arguments in commands(section):
            out = picture if arguments[0] == "plot" else Path(folder) / "out"
            program = [sys.executable, "-m", "aqmlab", *arguments, "--out", str(out)]
            subprocess.run(program, check=True)
            if arguments[0] == "compare":
                figure = FIGURES.get(name, "queue")
                shutil.copy(out / "figures" / f"{figure}.png", picture)
    shrink(picture)


def main() -> None:
    """Draw the pictures of the named scenarios, or of all scenarios."""
    page = sections((DOCS / "scenarios.md").read_text("utf-8"))
    for name in sys.argv[1:] or page:
        print(f"\n{name}", flush=True)
        draw(name, page[name])


if __name__ == "__main__":
    main()
