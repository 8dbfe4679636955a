# Every target works from a fresh clone, may be repeated, and says what it is doing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTEST := -p no:nbval -n 2 --dist worksteal
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export TOKENIZERS_PARALLELISM := false
export NO_MKDOCS_2_WARNING := 1
export DISABLE_MKDOCS_2_WARNING := true

.PHONY: help setup check test demo lab site site-serve clean

help:
	@echo "make demo        install, then a batch of prompts through the engine, checked against Hugging Face"
	@echo "make lab         JupyterLab on the first chapter that you have not finished"
	@echo "make test        everything that CI checks"
	@echo "make check       lint, types and the fast tests: about four minutes on two cores"
	@echo "make site        build the website into site/   (make site-serve: and serve it)"
	@echo "make setup       only install, into .venv"

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; '$(PYTHON)' is $$($(PYTHON) --version 2>&1). Try: make setup PYTHON=python3.11"; exit 1; }
	@echo "== setup: installing the pinned environment into $(VENV) (a few minutes the first time; pip says nothing until it is done)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --progress-bar off -c constraints.txt -e '.[dev,site]'
	@touch $(STAMP)
	@echo "== setup: done"

check: setup
	@echo "== lint"
	@$(BIN)/python -m ruff format --check --quiet . && $(BIN)/python -m ruff check --quiet .
	@echo "== types"
	@$(BIN)/python -m mypy --no-error-summary
	@echo "== derived files"
	@$(BIN)/python -m workbook build --check
	@echo "== fast tests"
	@$(BIN)/python -m pytest -q -m "not slow and not gpu" $(PYTEST)

test: setup
	@echo "== lint"
	@$(BIN)/python -m ruff format --check --quiet . && $(BIN)/python -m ruff check --quiet .
	@echo "== types"
	@$(BIN)/python -m mypy --no-error-summary
	@echo "== every chapter's tree on its own"
	@$(BIN)/python -m workbook steps check
	@echo "== every variant of every exercise"
	@$(BIN)/python judge.py --mutants
	@echo "== tests ($$($(BIN)/python -m pytest --collect-only -q -m gpu -p no:nbval $$(grep -rl 'mark\.gpu' tests) 2>/dev/null | grep -c '::') gpu tests not run)"
	@$(BIN)/python -m pytest -q -m "not gpu" $(PYTEST)

demo: setup
	@$(BIN)/python -m workbook demo

lab: setup
	@$(BIN)/python -m workbook lab

site: setup
	@$(BIN)/python -m workbook site

site-serve: setup
	@$(BIN)/python -m workbook site --serve

clean:
	@echo "== removing the environment and what was built (your work/ stays)"
	@rm -rf $(VENV) site build .pytest_cache .mypy_cache .ruff_cache .hypothesis
