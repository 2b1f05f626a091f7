"""Print the dependencies in pyproject.toml one per line, including those for developers."""

import tomllib
from itertools import chain
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
extras = chain.from_iterable(project["optional-dependencies"].values())
print(*project["dependencies"], *extras, sep="\n")
