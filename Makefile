# Everything a fresh machine with Python 3.11 or newer needs: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# The tests write thousands of small databases, each safely: in memory that is a matter of seconds.
PYTEST := PYTEST_DEBUG_TEMPROOT=$(shell test -w /dev/shm && echo /dev/shm || echo $${TMPDIR:-/tmp}) $(BIN)/pytest -q -n 2

.PHONY: help setup demo test nightly check fast bench extension lock clean

help:
	@echo "make demo    one clean-up end to end, on real data made for the purpose"
	@echo "make test    formatting, types, architecture, and every test"
	@echo "make nightly every example of each property test"
	@echo "make fast    the tests that need no service and little time"
	@echo "make check   formatting, types, architecture"
	@echo "make bench   ratios against floors measured in the same run"
	@echo "make extension   the extension for VS Code in docs/editors/vscode (needs Node 20)"
	@echo "make lock    renew constraints.txt from pyproject.toml"

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[postgres,http,lsp,openapi,redis]' --group dev
	@touch $(READY)

demo: setup
	$(BIN)/python -m workflows.demo

check: setup
	$(BIN)/ruff format --check dsl compiler runtime workflows tests benchmarks
	$(BIN)/ruff check dsl compiler runtime workflows tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports

# The quick ones first, so that a mistake shows within a minute.
fast: setup
	$(PYTEST) -m "not slow and not service"

test: check
	$(PYTEST) -m "not slow and not service"
	$(PYTEST) -m "slow or service"

# Every example of each property test, and every seeded kill. Hours, not minutes.
nightly: setup
	HYPOTHESIS_PROFILE=nightly $(PYTEST)

bench: setup
	$(BIN)/python -m benchmarks

extension:
	cd docs/editors/vscode && npm ci && npm run package

lock:
	rm -rf $(VENV)/lock
	$(PYTHON) -m venv $(VENV)/lock
	$(VENV)/lock/bin/python -m pip install --quiet --upgrade pip
	$(VENV)/lock/bin/python -m pip install --quiet --editable '.[postgres,http,lsp,openapi,redis]' --group dev
	$(VENV)/lock/bin/python -m pip freeze --exclude-editable --all | grep -v '^setuptools==' > constraints.txt
	rm -rf $(VENV)/lock

clean:
	rm -rf $(VENV) dist build demo .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
