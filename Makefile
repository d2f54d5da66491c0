# silbo: `make run` and `make test` set up everything they need in .venv by themselves.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: $(READY) ## the road scenario: cars and cameras write a log, Spark matches it; rates, the oracle, out/road.png
	@$(BIN)/silbo warm > /dev/null # else each of Spark's workers compiles the kernels
	$(BIN)/python examples/road/stream.py

.PHONY: test
test: $(READY) ## all tests
	$(BIN)/pytest

.PHONY: checked
checked: $(READY) ## all tests with bounds checking in the kernels, and their arrays passed plainly
	SILBO_CHECKED_KERNELS=1 $(BIN)/pytest -m "not spark and not rtl" --ignore=tests/test_packaging.py # which runs no kernel of this checkout

.PHONY: kafka
kafka: $(READY) ## Apache Kafka on this machine, for trials: one node, data in a temporary folder
	$(BIN)/python -m silbo.streaming.kafka_server

.PHONY: bench
bench: $(READY) ## measure matching and context changes, and write docs/performance.md anew
	$(BIN)/silbo bench report --out docs/performance.md

.PHONY: siena
siena: $(READY) ## the paper's experiment against SIENA: out/siena/report.html
	$(BIN)/silbo experiment siena --out out/siena

.PHONY: lint
lint: $(READY) ## ruff, mypy strict, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

.PHONY: format
format: $(READY) ## let ruff format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix-only .

.PHONY: mutations
mutations: $(READY) ## break the code on purpose, one way at a time, and see the tests fail
	$(BIN)/python tests/mutations.py

.PHONY: torture
torture: $(READY) ## kill parts of the streaming job at random, again and again, and compare with the oracle
	$(BIN)/python tests/torture.py

.PHONY: lock
lock: ## write constraints.txt anew from the newest versions
	rm -rf $(VENV)/lock && $(PYTHON) -m venv $(VENV)/lock
	$(VENV)/lock/bin/pip install --quiet --editable '.[dev]'
	$(VENV)/lock/bin/pip freeze --exclude-editable > constraints.txt
	rm -rf $(VENV)/lock

.PHONY: clean
clean: ## forget the set-up and everything that was built
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache out

$(READY): pyproject.toml constraints.txt setup-debian
	@PYTHON=$(PYTHON) ./setup-debian
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "silbo needs Python 3.11 or newer; name one: make PYTHON=python3.12 …" >&2; exit 1; }
	@test -L silbo/context || \
	  echo "note: this checkout has no symbolic links; silbo runs, but make lint cannot check the types" >&2
	@$(PYTHON) -c 'import ensurepip' || \
	  { echo "Python has no venv; install it first, as root: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $(READY)
