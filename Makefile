# The only door to building and testing. Needs Python 3.11 or newer, a JDK 17 or newer, a network.
# Variables: PYTHON=python3.12 picks the interpreter; ARGS goes to the command: '-k name' to pytest,
# '--bounded' to the demo. SPARK=4.2 picks the PySpark of `make test-wheel`.

VENV   := .venv
BIN    := $(VENV)/bin
PYTHON ?= python3
ARGS   ?=
SPARK  ?=
PYTEST := $(BIN)/pytest $(ARGS)

# The PySpark of `make test-spark42`, in an environment of its own.
VENV42  := .venv-spark42
SPARK42 := 4.2.1

# dbt and the adapter, in an environment of their own.
VENVDBT := .venv-dbt

JVM_SOURCES := src/streamtable/jvm/ivy.xml $(shell find src/streamtable/jvm/java src/streamtable/jvm/shims src/streamtable/jvm/testkit -name '*.java')

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo test check fmt golden docs site wheel test-wheel test-sqlglot test-spark42 test-dbt soak bench bench-flames bench-latency bench-backlog bench-idle bench-formats bench-mysql bench-nexmark bench-adopt clean

help: ## show this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16

setup: $(VENV)/warm ## virtual environment, Kafka's jars, compiled operators, Spark's classes; a second run does nothing

demo: setup ## see a small pipeline run on a broker of its own
	$(BIN)/streamtable demo $(ARGS)

test: check ## everything that must pass: check, then the tests in two processes, a file in one
	$(PYTEST) --numprocesses 2 --dist loadfile --no-loadscope-reorder

check: setup ## format, lint, types, layers, Java warnings
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m streamtable.jvm.install.compile --lint
	$(BIN)/python -m tools.spark_minors

fmt: setup ## format and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

golden: setup ## rewrite the golden plans and refusals, to be read as a difference
	GOLDEN=rewrite $(PYTEST) -q tests/unit/plan || true

docs: setup ## write the pages that are made from the code
	$(BIN)/python -m streamtable.cli.reference
	$(BIN)/python -m tests.compat.page

site: setup ## build the docs site in the folder site; a broken link is an error
	$(BIN)/mkdocs build

wheel: setup ## build the wheels and the source distribution into dist: the same sources, the same bytes
	$(BIN)/python -m tools.wheels

test-wheel: wheel ## install dist into an empty environment; the demo with a JRE, no network, no cache
	SPARK='$(SPARK)' $(PYTEST) -m wheel tests/integration/test_wheel.py

test-sqlglot: setup ## the front end on the lowest and the highest sqlglot that pyproject.toml allows
	$(BIN)/python -m tools.sqlglot_range

test-spark42: setup $(VENV42)/installed ## the integration tests on PySpark 4.2; ARGS='-k name' picks some
	PATH="$(CURDIR)/$(VENV42)/bin:$$PATH" $(VENV42)/bin/pytest $(ARGS) \
	    --numprocesses 2 --dist loadfile --no-loadscope-reorder tests/integration

test-dbt: setup $(VENVDBT)/installed ## types and tests of the dbt adapter, on dbt in an environment of its own; ten minutes
	$(VENVDBT)/bin/python -m pip install --disable-pip-version-check --quiet --no-deps --force-reinstall ./adapters/dbt
	$(BIN)/mypy --config-file adapters/dbt/pyproject.toml --python-executable $(VENVDBT)/bin/python
	$(VENVDBT)/bin/pytest -c adapters/dbt/pyproject.toml $(ARGS) adapters/dbt/tests

soak: setup ## long randomized and fault runs
	$(PYTEST) -m soak

bench: $(VENV)/bench ## throughput beside Flink's, as ratios: hours; ARGS='--scale 0.2' 25 minutes
	$(BIN)/python benchmarks/throughput.py $(ARGS)

bench-flames: $(VENV)/bench ## a flame graph of each workload; twenty minutes, ARGS='--only merge' one
	$(BIN)/python benchmarks/flames.py $(ARGS)

bench-latency: $(VENV)/bench ## latency beside Flink's; about an hour
	$(BIN)/python benchmarks/latency.py $(ARGS)

bench-backlog: $(VENV)/bench ## auto mode: how fast it catches up, and its latencies after; ten minutes
	$(BIN)/python benchmarks/backlog.py $(ARGS)

bench-idle: $(VENV)/bench ## CPU of idle jobs beside Flink's; 50 minutes, ARGS='--only group-by' nine
	$(BIN)/python benchmarks/idle.py $(ARGS)

bench-nexmark: $(VENV)/bench ## Nexmark's queries beside Flink; about an hour, ARGS='--only q5,q8' four minutes
	$(BIN)/python benchmarks/nexmark.py $(ARGS)

bench-adopt: setup ## adopts the topics of a real Flink job: nothing may be written; about ten minutes
	$(BIN)/python benchmarks/adopt.py $(ARGS)

bench-formats: setup ## rates of formats against Flink's, as ratios; about four minutes
	$(BIN)/python benchmarks/formats.py $(ARGS)

bench-mysql: setup ## MySQL into Kafka beside Debezium's embedded engine; about twenty minutes
	$(BIN)/python benchmarks/mysql.py $(ARGS)

clean: ## remove the virtual environment and tool caches (the cache of jars stays)
	rm -rf $(VENV) $(VENV42) $(VENVDBT) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist site

# Stamps: made last, so an interrupted setup goes on where it stopped.
$(VENV)/installed: pyproject.toml
	@python=$$(PYTHON='$(PYTHON)' sh tools/find-python.sh) \
	    && PYTHONPATH=src "$$python" -m streamtable.jvm.install.tools \
	    && echo '==> virtual environment in $(VENV) (at first PySpark, 450 MB)' \
	    && "$$python" -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check --editable '.[dev]'
	@touch $@

$(VENV)/warm: $(VENV)/installed $(JVM_SOURCES)
	@echo "==> Kafka's jars and the operators"
	$(BIN)/python -m streamtable.jvm.install.warm
	$(BIN)/python -m streamtable.devbroker.jars
	$(BIN)/python -m streamtable.demo.warm
	@touch $@

$(VENV42)/installed: $(VENV)/installed
	@echo '==> PySpark $(SPARK42) in $(VENV42) (at first 450 MB)'
	$(BIN)/python -m venv $(VENV42)
	$(VENV42)/bin/python -m pip install --disable-pip-version-check --editable '.[test]' pyspark==$(SPARK42)
	@touch $@

$(VENVDBT)/installed: $(VENV)/installed adapters/dbt/pyproject.toml
	@echo '==> dbt in $(VENVDBT) (at first 550 MB)'
	$(BIN)/python -m venv $(VENVDBT)
	$(VENVDBT)/bin/python -m pip install --disable-pip-version-check --editable . './adapters/dbt[test]'
	@touch $@

$(VENV)/bench: $(VENV)/warm
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --editable '.[bench]'
	@touch $@
