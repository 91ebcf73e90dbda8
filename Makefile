# Every target is safe to repeat. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help install demo test bench lint format lock

# The first Python that is new enough; `make PYTHON=python3.13 install` takes that one.
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$name" && break; \
	done)
BIN := .venv/bin
PIP_QUIET := --quiet --disable-pip-version-check --no-input

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-9s%s\n", $$1, $$2}' Makefile

install: .venv/.installed ## Create .venv with everything that demo and test need

.venv/.installed: requirements.lock pyproject.toml
	@if [ -z "$(PYTHON)" ]; then echo "Sayso needs Python 3.11 or newer. Install it, or name it: make PYTHON=/path/to/python3" >&2; exit 1; fi
	@echo "Installing into .venv (about a minute, once)"
	@rm -f $@
	@if ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
		if ! $(PYTHON) -m venv --clear .venv >/dev/null; then \
			echo "Python's venv module is not complete. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; fi; fi
	@$(BIN)/python -m pip install $(PIP_QUIET) -r requirements.lock
	@$(BIN)/python -m pip install $(PIP_QUIET) --no-deps --no-build-isolation --editable .
	@touch $@

demo: install ## Run Sayso on this machine, with a small Slack in the browser
	@exec $(BIN)/sayso demo

test: install ## Run all tests
	@$(BIN)/python -m pytest -n 3

bench: install ## Print a table of what things cost; BENCH=--quick takes half a minute
	@$(BIN)/python -m tests.bench $(BENCH)

lint: install ## Check style and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: install ## Put the code into shape
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

lock: ## Renew requirements.lock with the newest versions that pyproject.toml allows
	@scratch=$$(mktemp -d); trap 'rm -rf "$$scratch"' EXIT; \
	$(PYTHON) -m venv "$$scratch"; \
	"$$scratch/bin/python" -m pip install $(PIP_QUIET) '.[dev]'; \
	"$$scratch/bin/python" -m pip freeze --exclude sayso > requirements.lock.new; \
	mv requirements.lock.new requirements.lock
