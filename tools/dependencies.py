"""Print the dependencies in pyproject.toml, for users and developers, one per line.

Usage: tools/dependencies.py [lowest|locked]

With the argument "lowest", each dependency of users has the lowest version that its range allows.
With the argument "locked", the script prints the installed packages whose version is not that of
requirements.lock, and the exit code is 1 if there are any.
"""

import re
import sys
import tomllib
from importlib.metadata import distributions
from itertools import chain
from pathlib import Path

if "locked" in sys.argv[1:]:
    lock = Path("requirements.lock").read_text("utf-8")
    locked = {*re.findall(r"^([\w.-]+==[^ ;\\]+)", lock, re.M)}
    installed = {
        f"{re.sub(r'[-_.]+', '-', one.name).lower()}=={one.version}"
        for one in distributions()
        if one.name not in ("pip", "setuptools")
    }
    print(*sorted(installed - locked), sep="\n")
    sys.exit(bool(installed - locked))

project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
extras = dict(project["optional-dependencies"])
developers = extras.pop("dev")
users = [*project["dependencies"], *chain(*extras.values())]
if "lowest" in sys.argv[1:]:
    users = [re.sub(r">=([^,]+).*", r"==\1", dependency) for dependency in users]
print(*users, *developers, sep="\n")
