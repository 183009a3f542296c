PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

# Two test workers share the machine: one BLAS and one numba thread each, or they get in each other's way.
# Compiled tests are kept, whatever the environment says: compiling them takes a third of the time to collect them.
TEST_ENV := OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=

.PHONY: setup demo check test coverage wheel fuzz bench docs lint clean
.DEFAULT_GOAL := demo

setup: $(STAMP)

# The lock holds the build backend too, so nothing unpinned is fetched when fantope itself is built.
# The version stands in __init__.py; what is installed has to have the same.
$(STAMP): requirements/lock.txt pyproject.toml src/fantope/__init__.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "fantope needs Python 3.11 or newer: make PYTHON=python3.11")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing the pinned requirements into $(VENV) (a few minutes the first time) ..."
	@$(PIP) install -r requirements/lock.txt
	@$(PIP) install --no-deps --no-build-isolation -e .
	@$(PIP) check
	@touch $@

demo: setup
	@$(BIN)/fantope demo

# An answer in a minute on two cores, once kernels are compiled: everything but the tests marked slow. Doctests of src
# are left to `make test`. A file goes to one worker, so that what its tests share is made once.
check: lint
	$(TEST_ENV) $(BIN)/python -m pytest -n 2 --dist loadfile -q -m "not slow" tests

test: lint
	$(TEST_ENV) $(BIN)/python -m pytest -n 2 --dist worksteal -q

coverage: setup
	$(TEST_ENV) $(BIN)/python -m pytest -n 2 --dist worksteal -q --cov

# Source archive and wheel, built without network and tried in an environment of their own.
wheel: setup
	$(TEST_ENV) $(BIN)/python -m pytest -q tests/test_packaging.py

# The site, offline, into build/site: every example is run; a warning, a dead link or code that fails is an error.
docs: setup
	rm -rf build/site build/doctrees docs/reference docs/gallery
	$(TEST_ENV) $(BIN)/python -m sphinx -q -W --keep-going -d build/doctrees docs build/site
	$(TEST_ENV) $(BIN)/python -m pytest -q tests/test_docs.py
	@echo "build/site/index.html"

# Random problems, streams, files and a hostile machine: make fuzz COUNT=10000 SEED=0. A finding prints what repeats it.
fuzz: setup
	PYTHONPATH=tests $(TEST_ENV) $(BIN)/python -m fuzz --count $(or $(COUNT),1000) --seed $(or $(SEED),0)
	PYTHONPATH=tests $(TEST_ENV) $(BIN)/python -m fuzz machine --count $(or $(MACHINE),20) --seed $(or $(SEED),0)

bench: setup
	$(BIN)/python -m benchmarks

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:
	rm -rf build docs/gallery docs/reference dist src/*.egg-info fantope-demo fantope-coexpress-demo .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage .coverage.*
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
