PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Set to 0 where no browser should be opened.
export JARVIS_OPEN ?= 1

.PHONY: call test setup clean

call: setup
	@$(BIN)/jarvis serve

test: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/pytest

setup: $(STAMP)
	@$(BIN)/jarvis models --bring

# Installed anew only when what is asked for changed.
$(STAMP): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Jarvis needs Python 3.11 or newer; this is $$($(PYTHON) --version 2>&1). Name another one: make PYTHON=python3.12 call"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing packages (once, 1.3 GB on disk): a minute or two on a fast line ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	@if [ -t 1 ]; then quiet=; else quiet=--quiet; fi; $(BIN)/python -m pip install $$quiet -r requirements.txt
	@$(BIN)/python -m pip install --quiet --no-deps -e .
	@touch $@

clean:
	rm -rf $(VENV)
