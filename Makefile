# make demo: the whole story on shipped data.  make test: the tests, without the slow ones and those that need R or a
# browser, which make check runs too.
# Both set up .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := $(BIN)/humeval-power
# Tests are compiled once, with what their assertions report, and start from that; some images forbid it.
unexport PYTHONDONTWRITEBYTECODE
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal

.PHONY: setup demo test lint coverage check rest long check-r check-tools bench docs package papers site clean

# uv installs from PyPI three times as fast as pip, and itself comes from there.
INSTALL := $(BIN)/uv pip install --quiet --python $(BIN)/python

$(VENV)/.core: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(INSTALL) -e .
	touch $@

$(VENV)/.installed: $(VENV)/.core
	$(INSTALL) -e '.[dev]'
	-$(BIN)/python -m compileall -qq -j 0 -x /tests/ $(VENV)/lib  # by all cores
	touch $@

setup: $(VENV)/.installed
	$(BIN)/python -m compileall -qq -j 0 humeval_power
	$(RUN) more warm-up

demo: $(VENV)/.core
	PATH="$(CURDIR)/$(BIN):$$PATH" bash examples/demo.sh

test: setup
	$(PYTEST) -m "not slow and not r and not browser" --hypothesis-profile quick --cpu-budget 10

$(VENV)/.browser: pyproject.toml $(VENV)/.installed
	$(INSTALL) -e '.[browser]'
	touch $@

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Lines and branches that the fast tests reach, folder by folder. Apart: to trace every line takes 2.5 times as long.
coverage: setup
	$(PYTEST) -q -m "not slow and not r and not browser" --hypothesis-profile quick \
	  --cov --cov-report=json:.coverage.json --cov-report=
	$(BIN)/python .ci/coverage_by_folder.py .coverage.json

check: lint test rest

# What make lint test leaves out: generated pages, slow tests, R, a browser, and all examples of a property.
rest: setup $(VENV)/.browser
	$(BIN)/python docs/generate.py --check
	$(BIN)/python docs/make_plan_schema.py --check
	$(BIN)/python docs/make_study_schema.py --check
	$(PYTEST) -m "(slow or r or browser or hypothesis) and not long" --durations=25

# Calibrations of thousands of studies, hundreds of kills, whole journeys: before a release, and in .ci/run.
long: setup $(VENV)/.browser
	$(PYTEST) -m long --durations=25

# The reference engine through pymer4 needs an older pandas than the package does: an environment of its own.
$(VENV)-r/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)-r
	$(VENV)-r/bin/python -m pip install --quiet --upgrade pip
	$(VENV)-r/bin/python -m pip install --quiet -e '.[dev,r]'
	touch $@

check-r: $(VENV)-r/.installed
	$(VENV)-r/bin/python -m pytest -m r tests/engine/test_reference_engines.py

# The newest releases of tools whose logs are read, each in an environment of its own.
check-tools: setup
	$(BIN)/python .ci/check_tools.py

bench: setup  # about ten minutes
	for script in benchmarks/bench_*.py; do $(BIN)/python $$script || exit 1; done

# Wheel and source archive in clean environments: make package PYTHONS="python3.11 python3.12 python3.13"
PYTHONS ?= $(PYTHON)
package: $(VENV)/.installed
	$(BIN)/python .ci/prove_package.py $(foreach python,$(PYTHONS),--python $(python)) --lowest

papers: setup  # some minutes: docs/papers, the founding papers computed again
	$(BIN)/python examples/papers/make.py

site: $(VENV)/.installed  # site/index.html opens from the file system
	$(BIN)/python docs/build_site.py

docs: setup
	$(BIN)/python docs/generate.py

clean:
	rm -rf $(VENV) $(VENV)-r build dist site demo-output .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
