# Everything a person or CI runs. `make help` lists it.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
TOOLS := $(VENV)/.installed-tools
INSTALL := $(RUN)/python -m pip install --quiet --disable-pip-version-check \
	--constraint constraints.txt --editable
# Real scores are too many for kernels that run as plain Python.
UNCOMPILED := --ignore tests/test_real_scores.py
# These use no kernels, or only through what other tests cover.
NO_KERNELS := regions bad_regions curse figures reproduce cli diagnose curse_warning \
	threshold_classifier bad_estimators estimator_checks expected_f_classifier examples \
	cli_tables cli_wide cli_shell tables bad_tables table_files \
	cli_mesh mesh_records bad_records mesh_generator mesh_study \
	demo import threshold_scorer displays report own_input report_browser cli_report guards \
	surroundings
# Spark and Dask are started once, and have processes of their own.
ENGINES := tests/test_engines.py tests/test_engine_work.py tests/test_engine_python.py
WITHOUT_KERNELS := $(foreach name,$(NO_KERNELS),--ignore tests/test_$(name).py) \
	$(foreach file,$(ENGINES),--ignore $(file))

# A process for each core, which takes over tests of another that is not done; the linear algebra of
# small models only loses by threads of its own.
ALL_CORES := -n auto --dist worksteal
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

# A compiled kernel remembers the kernels it calls, also after these have changed.
FORGET_KERNELS := rm -rf .pytest_cache/kernels; find src -name '*.nb[ci]' -delete

.DEFAULT_GOAL := help
.PHONY: help setup tools demo test lint typecheck coverage reproduce bench pictures clean

help: ## show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

setup: $(INSTALLED) ## create .venv and install halfmax with its pinned dependencies

tools: $(TOOLS) ## the same with all that tests need, Spark and Dask too

$(INSTALLED): pyproject.toml constraints.txt | $(RUN)/python
	$(INSTALL) '.[report]'
	@touch $(INSTALLED)

$(TOOLS): pyproject.toml constraints.txt | $(RUN)/python
	$(INSTALL) '.[test]'
	@touch $(INSTALLED) $(TOOLS)

$(RUN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "halfmax needs Python 3.11 or later; set PYTHON=/path/to/python3.12, for example"; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
		|| { rm -rf $(VENV); echo "python3 cannot create environments: install Debian's python3-venv"; exit 1; }

demo: setup ## tune a binary and a multilabel classifier on built-in data; writes demo.html
	@$(RUN)/halfmax demo --report demo.html --force

test: tools lint typecheck ## style, types, all tests; then the tests again with the compiler off
	$(FORGET_KERNELS)
	$(ONE_THREAD) $(RUN)/python -m pytest $(ALL_CORES) $(foreach file,$(ENGINES),--ignore $(file))
	@echo "Spark and Dask, told at the end; meanwhile the other tests with the compiler off:"
	@$(ONE_THREAD) $(RUN)/python -m pytest $(ENGINES) > $(VENV)/engines.log 2>&1 & engines=$$!; \
	HYPOTHESIS_PROFILE=quick NUMBA_DISABLE_JIT=1 $(ONE_THREAD) $(RUN)/python -m pytest -q tests \
		$(ALL_CORES) $(UNCOMPILED) $(WITHOUT_KERNELS); plain=$$?; \
	wait $$engines; found=$$?; cat $(VENV)/engines.log; test $$plain -eq 0 && test $$found -eq 0

lint: tools ## style and format
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .

typecheck: tools ## static types
	$(RUN)/mypy

coverage: tools ## line coverage, with the compiler off so that kernels count too
	HYPOTHESIS_PROFILE=quick NUMBA_DISABLE_JIT=1 $(RUN)/coverage run -m pytest -q tests $(UNCOMPILED)
	$(RUN)/coverage report

reproduce: setup ## recompute the paper's figures, claims and simulation into paper/index.html
	@$(RUN)/halfmax reproduce --out paper

# The newest peers need Python 3.12 or later: make bench PYTHON=python3.12 VENV=.venv312
bench: tools ## speed and accuracy beside peers, all in one run (about 25 minutes)
	$(INSTALL) '.[test,bench]'
	$(RUN)/python -m benchmarks

pictures: tools ## redraw the pictures of the README
	$(RUN)/python -m benchmarks.pictures
	$(RUN)/python -m benchmarks.report_picture

clean: ## remove the environment and caches
	rm -rf $(VENV) .hypothesis .mypy_cache .pytest_cache .ruff_cache .coverage
	$(FORGET_KERNELS)
