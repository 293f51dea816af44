# `make demo` and `make test` need make and Python 3.11 or later, and nothing else set up.

VENV ?= .venv
# an interpreter to use instead of the first fit one on the path
PYTHON ?=
# arguments of the demo, such as DEMO_ARGS=--keep
DEMO_ARGS ?=
# arguments of pytest, such as TEST_ARGS="tests/project -x"
TEST_ARGS ?=
# the benchmarks to run
BENCHMARKS ?= $(wildcard benchmarks/*.py)
# arguments of pip-compile, such as LOCK_ARGS=--upgrade
LOCK_ARGS ?=

BIN := $(VENV)/bin
LOCK := locks/constraints.txt
# written last, so that an installation that broke off is taken up again
STAMP := $(VENV)/.installed

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install demo test lint format bench package docs lock clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml $(LOCK)
	@tools/venv.sh "$(VENV)" "$(PYTHON)"
	"$(BIN)/python" -m pip install --quiet --constraint $(LOCK) --editable '.[all,dev]'
	@touch $@

install: $(STAMP) ## Make the environment: everything, at the locked versions

demo: $(STAMP) ## Run the whole stack, feed a conversation, ask about it
	"$(BIN)/python" examples/demo/demo.py $(DEMO_ARGS)

test: $(STAMP) ## Run all tests; they start what servers they need
	"$(BIN)/python" -m pytest $(TEST_ARGS)

lint: $(STAMP) ## Check style, types, layers and generated pages
	"$(BIN)/ruff" check .
	"$(BIN)/ruff" format --check .
	"$(BIN)/mypy"
	"$(BIN)/lint-imports"
	"$(BIN)/python" tools/settings_table.py --check

format: $(STAMP) ## Format the code and sort its imports
	"$(BIN)/ruff" check --fix-only .
	"$(BIN)/ruff" format .

bench: $(STAMP) ## Run every benchmark, one after the other
	@set -e; for benchmark in $(BENCHMARKS); do printf '\n== %s\n' "$$benchmark"; "$(BIN)/python" "$$benchmark"; done

package: $(STAMP) ## Build sdist and wheel, and import the bare wheel in an environment of its own
	tools/check_package.sh "$(BIN)/python"

docs: $(STAMP) ## Write the generated pages anew
	"$(BIN)/python" tools/settings_table.py

lock: $(STAMP) ## Lock the versions that CI and the images use
	CUSTOM_COMPILE_COMMAND="make lock" "$(BIN)/pip-compile" --quiet $(LOCK_ARGS) \
		--constraint locks/constraints.in --output-file $(LOCK) pyproject.toml
# a local version, such as that of a CPU build, names one machine's file
	sed 's/+[a-z0-9.]*$$//' $(LOCK) > $(LOCK).new && mv $(LOCK).new $(LOCK)

clean: ## Remove what was built and cached; the environment stays
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find api tasks worker tests tools benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +
