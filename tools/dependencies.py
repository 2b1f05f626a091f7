"""Prints the dependencies that pyproject.toml names, for users and developers, one a line."""

import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
print(*project["dependencies"], *project["optional-dependencies"]["dev"], sep="\n")
