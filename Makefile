# silbo: `make run` and `make test` install everything that they need in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help

.PHONY: help
help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: $(READY) ## run the road scenario: cars and cameras write a log, Spark matches it; shows rates, the oracle, out/road.png
	@echo "compiling the matching kernels, once for this checkout" # otherwise each Spark worker compiles them
	@$(BIN)/silbo warm > /dev/null
	$(BIN)/python examples/road/stream.py

# The workers of pytest-xdist. Tests of one group (Spark, RTL) share a worker, and the longest groups start first.
WORKERS ?= 2
PYTEST := $(BIN)/pytest -n $(WORKERS) --dist loadscope --no-loadscope-reorder

.PHONY: quick
quick: $(READY) ## run the tests without Spark, RTL and synthesis: under two minutes
	$(PYTEST) -m "not spark and not rtl and not synthesis"

.PHONY: test
test: $(READY) ## run all tests
	$(PYTEST)

.PHONY: test-spark
test-spark: $(READY) ## run only the tests that use Spark, and Kafka in most cases
	$(PYTEST) -m spark

.PHONY: test-rtl
test-rtl: $(READY) ## run only the tests that simulate or synthesise the RTL
	$(PYTEST) -m "rtl or synthesis"

.PHONY: checked
checked: $(READY) ## run the tests of the kernels with bounds checking and with their arrays passed directly
	SILBO_CHECKED_KERNELS=1 $(PYTEST) -m "not spark" tests/matching tests/context tests/broker tests/engines tests/streaming

.PHONY: kafka
kafka: $(READY) ## run Apache Kafka on this machine, for trials: one node, data in a temporary folder
	$(BIN)/python -m silbo.streaming.kafka_server

.PHONY: bench
bench: $(READY) ## measure matching and context changes, and write docs/performance.md
	$(BIN)/silbo bench report --out docs/performance.md

.PHONY: siena
siena: $(READY) ## run the paper's experiment against SIENA: out/siena/report.html
	$(BIN)/silbo experiment siena --out out/siena

.PHONY: lint
lint: $(READY) ## run ruff, mypy strict and import-linter; mypy and vermin for Python 3.10 as well
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --python-version 3.10
	@# vermin takes the kernels' name `file` for the builtin of Python 2
	$(BIN)/vermin --target=3.10- --violations --no-tips --exclude file silbo context matching streaming hw examples
	$(BIN)/lint-imports

.PHONY: format
format: $(READY) ## format the code with ruff
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix-only .

.PHONY: mutations
mutations: $(READY) ## break the code on purpose, one place at a time, and check that the tests fail
	$(BIN)/python tests/mutations.py

.PHONY: torture
torture: $(READY) ## kill parts of the streaming job at random moments, for ten minutes, and compare with the oracle
	$(BIN)/python tests/torture.py

.PHONY: lock
lock: ## write constraints.txt from the newest versions
	rm -rf $(VENV)/lock && $(PYTHON) -m venv $(VENV)/lock
	$(VENV)/lock/bin/pip install --quiet --editable '.[dev]'
	$(VENV)/lock/bin/pip freeze --exclude-editable > constraints.txt
	rm -rf $(VENV)/lock

.PHONY: clean
clean: ## remove the set-up and everything that was built
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache out

$(READY): pyproject.toml constraints.txt setup-debian
	@PYTHON=$(PYTHON) ./setup-debian
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "working on silbo needs Python 3.11 or newer; name one: make PYTHON=python3.12 …" >&2; exit 1; }
	@test -L silbo/context || \
	  echo "note: this checkout has no symbolic links; silbo runs, but make lint cannot check the types" >&2
	@$(PYTHON) -c 'import ensurepip' || \
	  { echo "Python has no venv; install it first, as root: apt-get install python3-venv" >&2; exit 1; }
	@echo "installing silbo and its tools into $(VENV), which takes one to three minutes"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $(READY)
