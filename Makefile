# The commands that people and CI run. `make help` lists them.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
TOOLS := $(VENV)/.installed-tools
INSTALL := $(RUN)/python -m pip install --quiet --disable-pip-version-check \
	--constraint constraints.txt --editable

# One process per core; idle processes take over tests from busy ones. BLAS threads would only slow down
# the small models in the tests.
ALL_CORES := -n auto --dist worksteal
INTERPRETED := HYPOTHESIS_PROFILE=quick HALFMAX_KERNELS=python
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

# What is compiled: an environment is installed again when one of these has changed.
KERNELS := setup.py $(shell find src -name '*kernels.py' -o -name '*.c')

.DEFAULT_GOAL := help
.PHONY: help setup tools demo test lint typecheck coverage reproduce bench pictures wheel clean

help: ## show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

setup: $(INSTALLED) ## create .venv and install halfmax with its pinned dependencies

tools: $(TOOLS) ## make setup, plus everything that tests need, including Spark and Dask

$(INSTALLED): pyproject.toml constraints.txt $(KERNELS) | $(RUN)/python
	$(INSTALL) '.[report,tables]'
	@touch $(INSTALLED)

$(TOOLS): pyproject.toml constraints.txt $(KERNELS) | $(RUN)/python
	$(INSTALL) '.[test]'
	@touch $(INSTALLED) $(TOOLS)

$(RUN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "halfmax needs Python 3.11 or later; set PYTHON=/path/to/python3.12, for example"; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
		|| { rm -rf $(VENV); echo "python3 cannot create environments: install Debian's python3-venv"; exit 1; }

demo: setup ## tune a binary and a multilabel classifier on built-in data; writes demo.html
	@$(RUN)/halfmax demo --report demo.html --force

test: tools lint typecheck ## lint, types, all tests; then the kernel tests run by the interpreter
	$(ONE_THREAD) $(RUN)/python -m pytest $(ALL_CORES) -m "not engines"
	@echo "Now the kernel tests run by the interpreter; Spark and Dask run meanwhile and are shown at the end:"
	@$(ONE_THREAD) $(RUN)/python -m pytest -m engines tests > $(VENV)/engines.log 2>&1 & engines=$$!; \
	$(INTERPRETED) $(ONE_THREAD) $(RUN)/python -m pytest -q $(ALL_CORES) -m kernels tests; plain=$$?; \
	wait $$engines; found=$$?; cat $(VENV)/engines.log; test $$plain -eq 0 && test $$found -eq 0

lint: tools ## style, format, import order of packages, docstrings of public names
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/lint-imports
	$(RUN)/python -m tools.docstrings

typecheck: tools ## check static types
	$(RUN)/mypy

coverage: tools ## measure line coverage, with interpreted kernels so that they count too
	$(INTERPRETED) $(RUN)/coverage run -m pytest -q tests
	$(RUN)/coverage report

reproduce: setup ## recompute the paper's figures, claims and simulation into paper/index.html
	@$(RUN)/halfmax reproduce --out paper

# The newest alternatives need Python 3.12 or later: make bench PYTHON=python3.12 VENV=.venv312
bench: tools ## measure speed and accuracy against alternatives, in one run (about 25 minutes)
	$(INSTALL) '.[test,bench]'
	$(RUN)/python -m benchmarks

pictures: tools ## redraw the pictures in README and docs
	$(RUN)/python -m benchmarks.pictures
	$(RUN)/python -m benchmarks.report_picture

wheel: $(RUN)/python ## build a wheel and a source archive in dist/
	$(RUN)/python -m pip install --quiet --disable-pip-version-check build
	$(RUN)/python -m build --outdir dist

clean: ## remove the environment, what was built and caches
	rm -rf $(VENV) build src/halfmax/_compiled .hypothesis .mypy_cache .pytest_cache .ruff_cache .coverage
	rm -f src/halfmax/report/templates/vega.js
	find src -name '*.so' -delete
