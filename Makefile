# make demo     set up, then reproduce the first study; ends with the path of its report
# make check    check a change in two minutes: format, lint, types, prose, and the tests it touches
# make test     set up, then run every check that CI runs
# make nightly  the checks that take longer
# make bench    measures the speed, beside the peers that are installed
# make validate compares with ns-2, ns-3, Linux and others: docs/validation.md
# make wheel    builds the release wheel, guided by a profile: target/wheels
# make clean    remove what the others made

PYTHON ?= python3
OUT ?= results/ecn-finite-transfers
BIN := .venv/bin

# The one interpreter for pip, maturin and PyO3; nothing outside the checkout is used or changed.
export VIRTUAL_ENV := $(CURDIR)/.venv
export PYO3_PYTHON := $(CURDIR)/.venv/bin/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_QUIET := 1
unexport CONDA_PREFIX PYTHONPATH PYTHONHOME

CORE_SOURCES := $(shell find crates Cargo.toml Cargo.lock -name '*.rs' -o -name 'Cargo.*')

.DEFAULT_GOAL := help
PEERS ?=
.PHONY: help demo check test nightly bench validate wheel clean tools packages rust lint pytest

help:
	@sed -n 's/^# //p' Makefile | head -8

demo: .venv/core.stamp
	@$(BIN)/aqmlab reproduce ecn-finite-transfers --force --out $(OUT)

# The steps and the rule by which tests are chosen stand in tools/check.py. BASE names another commit that the change begins at.
check: .venv/core.stamp
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tools/check.py $(if $(BASE),--base $(BASE))

# The dependencies are fetched, the simulator is linked and the Python is checked on one core while the Rust tests are built and run on
# the other; the tests of Python come after, on both, so that their summary is the last thing to be read.
test:
	@$(MAKE) --jobs=2 rust lint packages
	@$(MAKE) pytest

rust: .venv/bin/python
	cargo fmt --all --check
	rustfmt --edition 2024 --check crates/impairments/src/kinds/*.rs
	cargo clippy --locked --workspace --all-targets -- -D warnings
	cargo test --locked --workspace --exclude aqmlab-python

lint: .venv/core.stamp
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python -m aqmlab._generate --check

pytest: .venv/core.stamp packages
	$(BIN)/python -m pytest -n 2 --dist worksteal

nightly: .venv/core.stamp
	PROPTEST_CASES=100000 cargo test --locked --release -p lab --test runs every_transfer
	PROPTEST_CASES=1000000 cargo test --locked -p tcp --release --test hostile --test transfers
	PROPTEST_CASES=5000 cargo test --locked --workspace --exclude aqmlab-python --release
	tools/slow-paths
	$(BIN)/python -m pytest -n 2 --dist worksteal --hypothesis-profile nightly -m 'nightly or not nightly'

bench: .venv/core.stamp
	@$(BIN)/aqmlab bench --peers

# The peers that are installed, or those that PEERS names; skips each other one with a reason.
validate: .venv/core.stamp
	@cd tests && ../$(BIN)/python -m validation $(PEERS)

# A tenth to a fifth faster than the module of .venv, and twice the time to build; tools/wheel says what it needs.
wheel: .venv/dependencies.stamp
	@tools/wheel

.venv/bin/python: | tools
	@$(PYTHON) -m venv .venv

# The virtual environment with every dependency; made anew when pyproject.toml changes. Modules are compiled where they are first used.
.venv/dependencies.stamp: pyproject.toml | .venv/bin/python
	@echo "Setting up .venv with the dependencies of pyproject.toml"
	@$(BIN)/python tools/dependencies.py | $(BIN)/python -m pip install --no-compile -r /dev/stdin
	@touch $@

# The simulator as a module of the package, and the command aqmlab.
.venv/core.stamp: .venv/dependencies.stamp $(CORE_SOURCES) | tools
	@echo "Building the simulator"
	@$(BIN)/maturin develop --quiet --release --locked
	@touch $@

tools:
	@tools/require $(PYTHON)

packages:
	@tools/system-packages

clean:
	rm -rf .venv target results .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis
	find python -name '__pycache__' -prune -exec rm -rf {} +
	rm -f python/aqmlab/_core.*.so
