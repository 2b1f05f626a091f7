"""The versions in requirements.lock, which developers and CI install."""

import re
import tomllib
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LOCKED = re.compile(r"^([\w.-]+)==([\w.]+)", re.M)


def test_the_lock_file_satisfies_the_ranges_of_pyproject() -> None:
    project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
    locked: dict[str, list[str]] = {}
    for name, version in LOCKED.findall(Path("requirements.lock").read_text("utf-8")):
        locked.setdefault(canonicalize_name(name), []).append(version)
    extras = chain.from_iterable(project["optional-dependencies"].values())
    for requirement in map(Requirement, [*project["dependencies"], *extras]):
        versions = locked[canonicalize_name(requirement.name)]
        assert all(map(requirement.specifier.contains, versions)), (requirement, versions)


def test_each_locked_version_has_a_hash() -> None:
    text = Path("requirements.lock").read_text("utf-8")
    for package in re.split(r"\n(?=\w)", text.strip()):
        assert "--hash=sha256:" in package, package.partition("\n")[0]
