# make demo      set up the environment, reproduce a study, and print the path of the report
# make check     check format, lint, types and prose, and run the affected tests, in two minutes
# make test      set up the environment, and run every check that CI runs
# make nightly   run the random tests with more cases, and the checks that take hours
# make page      build the page of the laboratory; needs Node.js 20 or later and npm
# make page-test test the page and its WebAssembly module; needs Chromium for the tests of the page
# make bench     measure aqmlab and the installed ns-2, ns-3 and htsim; WHEEL=FILE adds a wheel
# make validate  compare the simulator with ns-2, ns-3, Linux and L4S hosts (docs/validation.md)
# make wheel     build the wheel for x86-64 in target/wheels with profile-guided optimization
# make release   build and check the files of a release: the wheels and the sources
# make lock      update requirements.lock, which fixes the versions of the Python packages
# make clean     remove the files of the other targets

PYTHON ?= python3
OUT ?= results/ecn-finite-transfers
BIN := .venv/bin
PAGE := python/aqmlab/data/page

# pip, maturin and PyO3 use the interpreter of .venv. make changes only files in this repository.
export VIRTUAL_ENV := $(CURDIR)/.venv
export PYO3_PYTHON := $(CURDIR)/.venv/bin/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_QUIET := 1
unexport CONDA_PREFIX PYTHONPATH PYTHONHOME

CORE_SOURCES := $(shell find crates Cargo.toml Cargo.lock -name '*.rs' -o -name 'Cargo.*')

.DEFAULT_GOAL := help
PEERS ?=
.PHONY: help demo check test nightly bench validate wheel release lock clean tools packages page page-files page-test rust lint first-use pytest

help:
	@sed -n 's/^# //p' Makefile | head -12

demo: .venv/core.stamp
	@$(BIN)/aqmlab reproduce ecn-finite-transfers --force --out $(OUT)

# tools/check.py describes the checks and the selection of tests. BASE=COMMIT sets the commit with
# which the working tree is compared.
check: .venv/core.stamp
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tools/check.py $(if $(BASE),--base $(BASE))

# Two jobs run in parallel. One job fetches the dependencies, links the simulator and checks the
# Python code, while the other job builds and runs the Rust tests. Afterwards both cores run the
# Python tests, and the summary of the Python tests is the end of the output.
test:
	@$(MAKE) --jobs=2 rust lint packages
	@$(MAKE) --jobs=2 first-use pytest

rust: .venv/bin/python
	cargo fmt --all --check
	rustfmt --edition 2024 --check crates/impairments/src/kinds/*.rs
	cargo clippy --locked --workspace --all-targets -- -D warnings
	MAKEFLAGS= cargo test --locked --workspace --exclude aqmlab-python

lint: .venv/core.stamp
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python -m aqmlab._generate --check

# A user without Rust installs the wheel and compares queues. The wheel has the module of .venv, so
# nothing is compiled again.
first-use: .venv/core.stamp
	@rm -rf target/first-use
	@$(BIN)/maturin build --quiet --release --locked --out target/first-use
	@tools/check-wheel --first target/first-use/aqmlab-*.whl

pytest: .venv/core.stamp packages
	$(BIN)/python -m pytest -n 2 --dist worksteal

nightly: .venv/core.stamp
	PROPTEST_CASES=50000 cargo test --locked --release -p lab --test runs every_transfer
	PROPTEST_CASES=1000000 cargo test --locked -p aqmlab-tcp --release --test hostile --test transfers
	PROPTEST_CASES=1000 cargo test --locked --workspace --exclude aqmlab-python --release
	tools/slow-paths
	tools/other-machine
	tools/audit
	tools/with-dependencies lowest
	tools/with-dependencies newest
	$(BIN)/aqmlab doctor --build-kernel
	$(BIN)/python -m pytest -n 2 --dist worksteal --hypothesis-profile nightly -m 'nightly or hypothesis'

# The page is a folder of static files (docs/how-to/use-the-page.md). Its simulator is the module of
# crates/web, which the page unpacks itself, because many web servers do not compress files. The
# command that opens the page is in .venv.
page: .venv/core.stamp page-files
	@echo "The page is in $(PAGE); open it with: $(BIN)/aqmlab page"

# tools/wheel also uses this target, because a wheel contains the page.
page-files: page/public/simulator.bin page/node_modules/.package-lock.json
	@cd page && npx tsc && npx vite build --logLevel warn
	@cp LICENSE THIRD-PARTY $(PAGE)

page-test: page
	@tools/system-packages chromium
	@cd page && npx vitest run

page/public/simulator.bin: $(CORE_SOURCES)
	@rustup target list --installed | grep -q wasm32-unknown-unknown || rustup target add wasm32-unknown-unknown
	cargo build --locked --quiet --profile web --target wasm32-unknown-unknown -p web --lib
	@mkdir -p page/public
	@gzip -9nc target/wasm32-unknown-unknown/web/web.wasm > $@

page/node_modules/.package-lock.json: page/package-lock.json
	@command -v npm >/dev/null || { echo "The page needs Node.js 20 or later with npm: see https://nodejs.org" >&2; exit 1; }
	@cd page && npm ci --silent --no-audit --no-fund

bench: .venv/core.stamp
	@$(BIN)/aqmlab bench --all --peers $(if $(WHEEL),--wheel $(WHEEL))

# PEERS="ns2 linux" compares aqmlab only with ns-2 and Linux. If one of the other simulators is not
# installed, make validate skips the simulator and prints the reason.
validate: .venv/core.stamp
	@cd tests && ../$(BIN)/python -m validation $(PEERS)

# The simulator of the release wheel is 10 to 20 % faster than the simulator in .venv. Building the
# release wheel takes twice as long as building the simulator in .venv.
wheel: .venv/dependencies.stamp
	@tools/wheel x86_64

release: .venv/dependencies.stamp
	@rm -rf target/wheels
	@for target in sdist aarch64 macos x86_64; do tools/wheel $$target || exit; done
	@tools/check-wheel target/wheels/aqmlab-*x86_64.whl
	@tools/check-wheel-aarch64 target/wheels/aqmlab-*aarch64.whl
	@tools/check-wheel target/wheels/aqmlab-*.tar.gz

.venv/bin/python: | tools
	@$(PYTHON) -m venv .venv

# Install the dependencies into the virtual environment .venv, with the versions and hashes in
# requirements.lock. pip does not compile the modules: Python compiles each module at its first
# import.
.venv/dependencies.stamp: requirements.lock | .venv/bin/python
	@echo "Setting up .venv with the dependencies of requirements.lock"
	@$(BIN)/python -m pip install --no-compile --require-hashes -r requirements.lock
	@touch $@

# Write the newest version of each dependency that pyproject.toml allows into requirements.lock.
lock: | .venv/bin/python
	@$(BIN)/python -m pip install uv==0.13.*
	@$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --all-extras \
		--generate-hashes --no-annotate --no-header --output-file requirements.lock pyproject.toml

# Build the simulator as a module of the Python package, and install the command aqmlab.
.venv/core.stamp: .venv/dependencies.stamp $(CORE_SOURCES) | tools
	@echo "Building the simulator"
	@$(BIN)/maturin develop --quiet --release --locked
	@touch $@

tools:
	@tools/require $(PYTHON)

# valgrind is for tests/test_instructions.py, and tshark for tests/test_wire.py and
# tests/test_captures.py.
packages:
	@tools/system-packages valgrind tshark

clean:
	rm -rf page/node_modules page/public/simulator.bin $(PAGE)
	rm -rf .venv target results .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis
	find python -name '__pycache__' -prune -exec rm -rf {} +
	rm -f python/aqmlab/_core.*.so
