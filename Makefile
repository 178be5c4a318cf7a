# Every target makes what it needs: a virtual environment in .venv, with this checkout and its tools in it.
# A fresh machine needs Python 3.11 or newer, git and make; `make PYTHON=/path/to/python3 ...` picks one.

PYTHON ?=
VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready

# Flags of a run: make test ARGS="tests/test_docs.py -x", make walkthrough CLIENTS="codex pi" (none: all).
ARGS ?=
CLIENTS ?=
WORKERS ?= auto

.DEFAULT_GOAL := help
.PHONY: help dev demo test lint types format bench stress walkthrough man docs dist clean

help: ## print this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1|\2/p' Makefile | awk -F'|' '{ printf "  make %-12s %s\n", $$1, $$2 }'

dev: $(READY) ## make .venv with neosian and all development tools

demo: $(READY) ## see it work: two recorded sessions land in a throwaway store (no key, no network)
	@$(VENV)/bin/neosian demo $(ARGS)

test: $(READY) ## run the tests
	@$(PY) -m pytest -q -n $(WORKERS) $(ARGS)

lint: $(READY) ## check style and formatting
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .

types: $(READY) ## check types, of the tests too
	@$(PY) -m mypy

format: $(READY) ## rewrite the code in the project's formatting
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .

bench: $(READY) ## measure what hooks and searches cost, as ratios to an empty Python process
	@$(PY) tests/bench/run.py $(ARGS)

stress: $(READY) ## land thousands of turns while people and kill signals get in the way
	@$(PY) tests/stress/landing.py $(ARGS)
	@$(PY) tests/stress/hooks.py

walkthrough: $(READY) ## install real clients and play two sessions with each, offline (fetches each once)
	@$(PY) tests/walkthrough/run.py --table $(CLIENTS) $(ARGS)

man: $(READY) ## write the man page, build/neosian.1: `man build/neosian.1` shows it
	@mkdir -p build
	@COLUMNS=80 $(VENV)/bin/argparse-manpage --module neosian.cli --function build_parser \
		--prog neosian --project-name neosian --manual-title "neosian manual" \
		--description "a memory wiki for coding agents" --output build/neosian.1.raw
	@$(PY) -m tests.manpage < build/neosian.1.raw > build/neosian.1
	@rm build/neosian.1.raw
	@echo build/neosian.1

docs: $(READY) ## write docs/cli.md anew from the command's own parser
	@mkdir -p build
	@$(PY) -m tests.reference > build/cli.md
	@mv build/cli.md docs/cli.md

dist: $(READY) ## build sdist and wheel, then run the wheel without any development package
	@rm -rf dist build/wheel
	@$(PY) -m build --quiet --outdir dist .
	@$(PY) -m venv build/wheel
	@build/wheel/bin/python -m pip install -q --disable-pip-version-check dist/*.whl
	@cd build/wheel && bin/neosian --version && bin/neosian docs
	@ls dist

clean: ## remove everything that make made
	@rm -rf $(VENV) build dist .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find neosian tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml
	@command -v git > /dev/null || { echo "neosian needs git 2.30 or newer: install git first." >&2; exit 1; }
	@found=; \
	for python in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 python; do \
		if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then \
			found=$$python; break; \
		fi; \
	done; \
	if [ -z "$$found" ]; then \
		echo "neosian needs Python 3.11 or newer and found none; name one: make PYTHON=/path/to/python3" >&2; \
		exit 1; \
	fi; \
	if ! "$$found" -c 'import ensurepip, venv' 2> /dev/null; then \
		echo "$$found cannot make virtual environments. On Debian or Ubuntu: apt install python3-venv" >&2; \
		exit 1; \
	fi; \
	if ! $(PY) -m pip --version > /dev/null 2>&1; then \
		rm -rf $(VENV); \
		"$$found" -m venv $(VENV); \
	fi
	@echo "installing neosian and its tools into $(VENV) (once; this is the part that needs the network)" >&2
	@$(PY) -m pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@
