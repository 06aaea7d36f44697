# `make demo` and `make test` need only Python 3.11 or later and PyPI. They use uv if it is installed. If there is no Java 17
# or later for Spark, they install one from PyPI.

VENV  := .venv
BIN   := $(VENV)/bin
READY := $(VENV)/.ready
TOOLS := $(VENV)/.tools

# The first Python that is recent enough. To choose another: make demo PYTHON=/path/to/python3
PYTHON ?= $(shell for python in python3.13 python3.12 python3.11 python3; do \
	$$python -c 'import sys; sys.exit(1) if sys.version_info < (3, 11) else print(sys.executable)' 2>/dev/null \
	&& break; done)

.DEFAULT_GOAL := help
.PHONY: help demo test fuzz docs lint format clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

demo: $(READY) ## Run a continuous query over a stream of cars at tollgates
	@$(BIN)/penstock demo

test: $(TOOLS) ## Run the tests, on all cores
	@$(BIN)/pytest -n auto --dist loadgroup

# How many random queries; some thousand take some minutes.
EXAMPLES ?= 2000

fuzz: $(TOOLS) ## Compare the engine with the oracle on random queries and streams, new ones each time
	@PENSTOCK_EXAMPLES=$(EXAMPLES) $(BIN)/pytest -n auto --hypothesis-show-statistics tests/engines/test_random_queries.py

docs: $(TOOLS) ## Build the guide, as pages to open in a browser
	@$(BIN)/python scripts/guide build/docs

lint: $(TOOLS) ## Run the linters: ruff, mypy, import-linter
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(TOOLS) ## Format the code and apply automatic fixes
	@$(BIN)/ruff format
	@$(BIN)/ruff check --fix

clean: ## Remove .venv and everything else that was made
	@rm -rf $(VENV) build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache spark-warehouse
	@find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

INSTALL = $(if $(shell command -v uv),uv pip install --quiet --python $(BIN)/python,\
	$(BIN)/python -m pip install --quiet --disable-pip-version-check) --editable

# Set up once, and again when pyproject.toml changes: Penstock for the demo, its tools for the other targets.
$(READY): pyproject.toml $(VENV)/pyvenv.cfg
	@echo "Installing Penstock into $(VENV) ..."
	@if "$${JAVA_HOME:+$$JAVA_HOME/bin/}java" -version 2>&1 | grep -Eq 'version "(1[7-9]|[2-9][0-9])'; then \
		$(INSTALL) .; \
	else \
		$(INSTALL) '.[java]'; \
	fi
	@touch $@

$(TOOLS): $(READY)
	@echo "Installing its tools into $(VENV) ..."
	@$(INSTALL) '.[dev]'
	@touch $@

$(VENV)/pyvenv.cfg:
	@if command -v uv >/dev/null; then \
		uv venv --quiet --seed --python '$(or $(PYTHON),>=3.11)' $(VENV); \
	elif [ -n '$(PYTHON)' ]; then \
		'$(PYTHON)' -m venv $(VENV) || { rm -rf $(VENV); exit 1; }; \
	else \
		echo 'Penstock needs Python 3.11 or later; none was found. Install one, or name it: make PYTHON=/path/to/python3 $(MAKECMDGOALS)' >&2; \
		exit 1; \
	fi
