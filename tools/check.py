"""Check a change in at most two minutes: format, lint, types, prose, and the tests it touches.

Usage: tools/check.py [--base COMMIT] [--seconds N] [--list]

The change consists of all files that differ from COMMIT. The default COMMIT is the merge base with
main. On main, COMMIT is the last commit, or the commit before it if all files are committed. The
script selects these tests:

- for a changed crate, all its tests and the unit tests of the crates that depend on it;
- for a changed Python module, its examples, the test files that import it or contain its path or
  dotted name, and the test files named after the module or its folder (test_NAME.py);
- for a changed command, also the test files that call it;
- for any other changed file, the test files that contain its path or its name;
- changed test files and changed packet scripts.

Two steps run at a time. A step that does not begin or end within the time is listed as not checked.
`make test` runs all tests.
"""

import argparse
import ast
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable
from pathlib import Path

SECONDS = 120
"""Default time for all steps, in s."""
PACKAGE = Path("python")
"""Folder of the Python package."""
BIN = Path(sys.executable).parent
"""Folder of the programs of the virtual environment."""


def output(*command: str) -> str:
    """Return the output of a command; "" if the command fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def changed_files(base: str) -> tuple[str, list[str]]:
    """Return the commit at which the change begins and the files that differ.

    Parameters
    ----------
    base : str
        The commit; "" selects the default.
    """
    base = base or first_commit()
    names = output("git", "diff", "--name-only", base).splitlines()
    names += output("git", "ls-files", "--others", "--exclude-standard").splitlines()
    return base, sorted(dict.fromkeys(names))


def first_commit() -> str:
    """Return the default commit at which the change begins."""
    head = output("git", "rev-parse", "HEAD").strip()
    bases = [output("git", "merge-base", "HEAD", main).strip() for main in ("main", "origin/main")]
    # The local main may be older than the remote main, so the nearest base is the right one.
    distance = {b: len(output("git", "rev-list", f"{b}..HEAD").split()) for b in bases if b}
    base = min(distance, key=lambda b: distance[b], default="")
    if not base or base == head:
        dirty = output("git", "status", "--porcelain").strip()
        base = "HEAD" if dirty else output("git", "rev-parse", "HEAD~1").strip() or "HEAD"
    return base


def crates() -> dict[str, dict]:
    """Return the packages of the workspace, by the folder of their crate."""
    text = output("cargo", "metadata", "--no-deps", "--offline", "--format-version", "1")
    packages = json.loads(text or '{"packages": []}')["packages"]
    return {os.path.relpath(Path(p["manifest_path"]).parent): p for p in packages}


def changed_crates(files: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the names of the changed crates and of the crates that depend on them."""
    every = crates()
    changed = {p["name"] for at, p in every.items() if any(f.startswith(f"{at}/") for f in files)}
    if {"Cargo.toml", "Cargo.lock"} & set(files):
        changed = {p["name"] for p in every.values()}
    affected = set(changed)
    while True:
        more = {
            p["name"] for p in every.values() if affected & {d["name"] for d in p["dependencies"]}
        }
        if more <= affected:
            return sorted(changed), sorted(affected - changed)
        affected |= more


def module_of(file: str) -> str:
    """Return the dotted name of a module of the package."""
    parts = Path(file).relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(text: str) -> set[str]:
    """Return the dotted names of the modules and objects that a module imports."""
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def exported() -> dict[str, str]:
    """Return the defining module of each name that a package imports from its modules."""
    owners = {}
    for init in PACKAGE.rglob("__init__.py"):
        package = module_of(str(init))
        for node in ast.walk(ast.parse(init.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    owners[f"{package}.{alias.asname or alias.name}"] = node.module
    return owners


def uses(text: str, owners: dict[str, str]) -> set[str]:
    """Return the dotted names that a test file imports or writes out in full."""
    used = imports(text) | set(re.findall(r"\baqmlab(?:\.\w+)+", text))
    return used | {owners[name] for name in used & owners.keys()}


def touches(test: Path, text: str, used: set[str], file: str) -> bool:
    """Return True if a changed file selects a test file."""
    path = Path(file)
    if path == test or file in text:
        return True
    if not file.endswith(".py") or path.parts[0] != str(PACKAGE):
        study = path.parts[3] if path.parts[:3] == ("python", "aqmlab", "studies") else ""
        return f'"{path.name}"' in text or f"/{path.name}" in text or test.stem == f"test_{study}"
    module = module_of(file)
    *_, folder, name = module.split(".")
    if module in used or any(one.startswith(f"{module}.") for one in used):
        return True
    if module == f"aqmlab.command.{name}" and f'"{name.replace("_", "-")}"' in text:
        return True
    return test.stem in (f"test_{name}", f"test_{folder}")


def chosen_tests(files: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the changed modules with examples, and the selected test files, most hits first."""
    files = list(files)
    owners = exported()
    hits: dict[str, int] = {}
    for test in sorted(Path("tests").rglob("test_*.py")):
        text = test.read_text("utf-8")
        used = uses(text, owners)
        hits[str(test)] = sum(touches(test, text, used, file) for file in files)
    chosen = [test for test in hits if hits[test]]
    chosen.sort(key=lambda test: (test not in files, -hits[test]))
    modules = [
        file
        for file in files
        if file.startswith(f"{PACKAGE}/") and file.endswith(".py") and Path(file).exists()
        if ">>>" in Path(file).read_text("utf-8")
    ]
    return modules, chosen


Step = tuple[str, list[str]]
"""Name and command of a step."""


class Steps:
    """Runner of steps with a common time limit, which two lanes share."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds
        self.failed: list[str] = []
        self.unchecked: list[str] = []
        self._lock = threading.Lock()

    def run(self, lane: list[Step], then: deque[Step]) -> None:
        """Run the steps of a lane in order, then the steps that both lanes share."""
        for step in lane:
            self._step(*step)
        while True:
            try:
                step = then.popleft()
            except IndexError:
                return
            self._step(*step)

    def _step(self, name: str, command: list[str]) -> None:
        """Run a step and print its result."""
        began = time.monotonic()
        left = self.end - began
        text, code = ("", None) if left < 1 else self._execute(command, left)
        took = time.monotonic() - began
        with self._lock:
            if code is None:
                self.unchecked.append(name)
            elif code:
                self.failed.append(name)
                print(f"{'FAILED':8}{name} ({took:.0f} s)\n{text.strip()}\n", flush=True)
            else:
                print(f"{'ok':8}{name} ({took:.0f} s)", flush=True)

    def _execute(self, command: list[str], seconds: float) -> tuple[str, int | None]:
        """Return the output and exit code of a command; after a stop at the limit, code None."""
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True,
        )  # fmt: skip
        try:
            text, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return "", None
        # The exit code of pytest is 5 if a file has no test to run, such as only nightly tests.
        return text, 0 if process.returncode == 5 and "pytest" in command else process.returncode


def steps_of(files: list[str]) -> tuple[list[Step], list[Step], list[Step]]:
    """Return the steps of the Rust lane, of the Python lane, and the shared steps."""
    rust = [("format of Rust", ["cargo", "fmt", "--all", "--check"])]
    changed, dependents = changed_crates(files)
    if changed:
        packages = [word for name in (*changed, *dependents) for word in ("-p", name)]
        clippy = ["cargo", "clippy", "--locked", "--quiet", *packages, "--all-targets"]
        rust.append((f"lint of {', '.join(changed)}", [*clippy, "--", "-D", "warnings"]))
    test = ["cargo", "test", "--locked", "--quiet", "-p"]
    rust += [(f"tests of {name}", [*test, name]) for name in changed if name != "aqmlab-python"]
    rust += [
        (f"unit tests of {name}", [*test, name, "--lib"])
        for name in dependents
        if name != "aqmlab-python"
    ]
    python = [
        ("lint of Python", [str(BIN / "ruff"), "check", "--quiet"]),
        ("format of Python", [str(BIN / "ruff"), "format", "--check", "--quiet"]),
        ("types", [str(BIN / "mypy")]),
        ("generated files", [sys.executable, "-m", "aqmlab._generate", "--check"]),
    ]
    if Path("tools/prose").exists():
        python.insert(2, ("prose", ["tools/prose"]))
    shared = []
    scripts = [file for file in files if file.endswith(".pkt") and Path(file).exists()]
    if scripts:
        run = [sys.executable, "-m", "aqmlab", "script", *scripts]
        shared.append((f"{len(scripts)} packet scripts", run))
    pytest = [sys.executable, "-m", "pytest", "-q", "-n", "0"]
    modules, tests = chosen_tests(files)
    if modules:
        shared.append((f"examples of {len(modules)} modules", [*pytest, *modules]))
    shared += [(test, [*pytest, test]) for test in tests]
    return rust, python, shared


def main() -> int:
    """Run the steps; return 1 if a step failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--base", default="", help="commit at which the change begins")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="time for all steps, in s")
    parser.add_argument("--list", action="store_true", help="list the steps without running them")
    options = parser.parse_args()
    base, files = changed_files(options.base)
    print(f"{len(files)} files differ from {base[:12]}")
    rust, python, shared = steps_of(files)
    if options.list:
        print("\n".join(name for name, _ in (*rust, *python, *shared)))
        return 0
    steps = Steps(options.seconds)
    rest = deque(shared)
    threads = [threading.Thread(target=steps.run, args=(lane, rest)) for lane in (rust, python)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if steps.unchecked:
        names = "\n".join(f"        {name}" for name in steps.unchecked)
        print(f"Not checked within {options.seconds:g} s; run make test for:\n{names}")
    if steps.failed:
        print(f"Failed: {'; '.join(steps.failed)}")
        return 1
    print("No step failed." if steps.unchecked else "Every step passed.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
