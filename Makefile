# make demo      set up, reproduce the first study, and print the path of its report
# make check     check a change in two minutes: format, lint, types, prose, and the tests it touches
# make test      set up, and run every check that CI runs
# make nightly   run every check that CI runs, with more cases, and the checks that take hours
# make bench     measure the speed, and that of the installed peers
# make validate  compare the simulator with ns-2, ns-3, Linux and L4S hosts (docs/validation.md)
# make wheel     build the release wheel, optimized by a profile, in target/wheels
# make lock      update requirements.lock, which fixes the versions of the Python packages
# make clean     remove the files of the other targets

PYTHON ?= python3
OUT ?= results/ecn-finite-transfers
BIN := .venv/bin

# pip, maturin and PyO3 use the interpreter of .venv. Nothing outside of the checkout changes.
export VIRTUAL_ENV := $(CURDIR)/.venv
export PYO3_PYTHON := $(CURDIR)/.venv/bin/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_QUIET := 1
unexport CONDA_PREFIX PYTHONPATH PYTHONHOME

CORE_SOURCES := $(shell find crates Cargo.toml Cargo.lock -name '*.rs' -o -name 'Cargo.*')

.DEFAULT_GOAL := help
PEERS ?=
.PHONY: help demo check test nightly bench validate wheel lock clean tools packages rust lint pytest

help:
	@sed -n 's/^# //p' Makefile | head -9

demo: .venv/core.stamp
	@$(BIN)/aqmlab reproduce ecn-finite-transfers --force --out $(OUT)

# tools/check.py describes the steps and the choice of tests. BASE=COMMIT sets the first commit of the
# change.
check: .venv/core.stamp
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tools/check.py $(if $(BASE),--base $(BASE))

# One core fetches the dependencies, links the simulator and checks the Python, while the other core
# builds and runs the Rust tests. Then both run the Python tests, whose summary ends the output.
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

# PEERS="ns2 linux" selects the peers. A peer that is not installed is skipped with a reason.
validate: .venv/core.stamp
	@cd tests && ../$(BIN)/python -m validation $(PEERS)

# The wheel is 10 to 20 % faster than the module of .venv, and takes twice the time to build.
wheel: .venv/dependencies.stamp
	@tools/wheel

.venv/bin/python: | tools
	@$(PYTHON) -m venv .venv

# The virtual environment with the dependencies, whose versions and hashes requirements.lock fixes.
# Python compiles each module at its first use.
.venv/dependencies.stamp: requirements.lock | .venv/bin/python
	@echo "Setting up .venv with the dependencies of requirements.lock"
	@$(BIN)/python -m pip install --no-compile --require-hashes -r requirements.lock
	@touch $@

# Write the newest version of each dependency that pyproject.toml allows into requirements.lock.
lock: | .venv/bin/python
	@$(BIN)/python -m pip install uv==0.13.*
	@$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --all-extras \
		--generate-hashes --no-annotate --no-header --output-file requirements.lock pyproject.toml

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
