"""Print the dependencies in pyproject.toml, for users and developers, one per line.

Usage: tools/dependencies.py [lowest]

With the argument "lowest", each dependency of users has the lowest version that its range allows.
"""

import re
import sys
import tomllib
from itertools import chain
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
extras = dict(project["optional-dependencies"])
developers = extras.pop("dev")
users = [*project["dependencies"], *chain(*extras.values())]
if "lowest" in sys.argv[1:]:
    users = [re.sub(r">=([^,]+).*", r"==\1", dependency) for dependency in users]
print(*users, *developers, sep="\n")
