"""Write THIRD-PARTY, the licences of the crates in aqmlab's compiled module.

Usage: tools/licences.py [--check]

The names, versions and licences are those of `cargo metadata`. The file repeats the text of a
licence only for a crate that is not available under Apache-2.0, aqmlab's own licence. With the
option --check the script writes nothing and fails if the file is not current or if a licence is not
in the list of accepted licences.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ACCEPTED = {"Apache-2.0", "MIT", "Zlib", "Unlicense", "Unicode-3.0", "LLVM-exception"}
FILE = Path(__file__).parents[1] / "THIRD-PARTY"
PLATFORMS = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "aarch64-apple-darwin")
HEAD = """\
The compiled module of aqmlab contains the following crates. `tools/licences.py` writes this file.
"""


def crates() -> list[dict]:
    """Return the crates that the module contains on any platform, without those of aqmlab."""
    names: dict[tuple[str, str], dict] = {}
    for platform in PLATFORMS:
        command = ["cargo", "metadata", "--locked", "--format-version", "1"]
        text = subprocess.run(
            [*command, "--filter-platform", platform], capture_output=True, text=True, check=True
        ).stdout
        metadata = json.loads(text)
        packages = {package["id"]: package for package in metadata["packages"]}
        nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
        left = [i for i, package in packages.items() if package["name"] == "aqmlab-python"]
        linked: set[str] = set()
        while left:
            one = left.pop()
            macro = any("proc-macro" in target["kind"] for target in packages[one]["targets"])
            if one in linked or macro:
                continue
            linked.add(one)
            left += [
                dependency["pkg"]
                for dependency in nodes[one]["deps"]
                if any(kind["kind"] is None for kind in dependency["dep_kinds"])
            ]
        for one in linked:
            package = packages[one]
            if package["source"]:
                names[package["name"], package["version"]] = package
    return [names[key] for key in sorted(names)]


def texts(package: dict) -> str:
    """Return the licence files of a crate."""
    folder = Path(package["manifest_path"]).parent
    files = sorted(p for p in folder.iterdir() if re.match("(?i)licen[cs]e|unlicense", p.name))
    return "\n\n".join(path.read_text("utf-8").strip() for path in files if path.is_file())


def notices() -> str:
    """Return the text of THIRD-PARTY."""
    lines, more = [HEAD], []
    for package in crates():
        licence = package["license"]
        unknown = set(re.findall(r"[\w.-]+", licence)) - ACCEPTED - {"OR", "AND", "WITH"}
        if unknown:
            sys.exit(f"{package['name']}: the licence {licence} is not accepted; see ACCEPTED")
        lines.append(f"{package['name']} {package['version']}: {licence}")
        if "Apache-2.0" not in licence:
            rule = "-" * 80
            more.append(f"\n{rule}\n{package['name']} {package['version']}\n\n{texts(package)}")
    return "\n".join([*lines, *more]) + "\n"


text = notices()
if "--check" not in sys.argv[1:]:
    FILE.write_text(text, "utf-8")
elif FILE.read_text("utf-8") != text:
    sys.exit("THIRD-PARTY is not current; run python tools/licences.py")
