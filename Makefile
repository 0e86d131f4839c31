# Two commands do everything on a fresh machine with Python 3.11+ and make:
#   make demo    the main job on the shipped example
#   make test    lint, types, import direction, docs, tests

PYTHON ?= python3
BIN := .venv/bin
JOBS ?= 2
SHELL := /bin/bash

.PHONY: demo docs examples test test-long fuzz benchmark reproduce lint clean

demo: .venv/ready
	@$(BIN)/tielink demo

test: lint docs
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not long"

docs: .venv/ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

test-long: .venv/ready
	set -o pipefail; $(BIN)/python -m pytest -n $(JOBS) -m long -rP -q | tee long.log
	$(BIN)/python tests/statistical/record.py < long.log > tests/statistical/README.md

# Mutated inputs through every command, for at most three minutes; SEED=n tries others.
fuzz: .venv/ready
	$(BIN)/python tests/fuzz.py --seed $(or $(SEED),1)

# The notebooks in examples/, run from top to bottom with their outputs kept.
examples: .venv/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[examples]'
	$(BIN)/python examples/run.py

benchmark: .venv/ready
	$(BIN)/python -m benchmarks

# The paper's tables and figures: DATA=folder, QUICK=1 for five minutes, FULL=1 for a night.
reproduce: .venv/ready
	$(BIN)/python -m reproduce $(if $(DATA),--data $(DATA)) --level $(if $(QUICK),quick,$(if $(FULL),full,default))

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

.venv/ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "tielink needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	@echo "Setting up .venv (once; about a minute) ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

clean:
	rm -rf .venv build dist demo .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
