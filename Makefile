# Every command makes what it needs; nothing but Python 3.11+, pip and make has to be there first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2
# make reproduce MODE=--quick (a minute, prints only) or MODE=--full (the papers' sizes, hours)
MODE ?=
# The tests start hundreds of processes. Where the environment forbids to keep bytecode (many containers do), each of them
# would compile the whole package anew, which costs more than what it was started for.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-lowest campaign check lint warm docs bench reproduce pins reference lock system clean

demo: $(VENV)/.installed
	$(BIN)/wallflower demo --out demo

test:  ## what `make check` looks at, and every test; the site is built by tests/test_site.py. Two things at a time: much of it is waiting
	$(MAKE) --no-print-directory --jobs 2 system lint warm
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not campaign"

warm: $(VENV)/.installed  # all that it needs: it compiles on one core and the other while what only the tests need is fetched
	$(BIN)/python -m tests.warm

campaign: $(VENV)/.tested system  ## what takes hours: mutations, kills, fuzzed inputs by the hundred thousand
	$(BIN)/pytest -n $(WORKERS) -m campaign
	$(BIN)/python -m scripts.mutations --many 200

check: lint docs

lint: $(VENV)/.tested
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python scripts/typed_examples.py
	$(BIN)/lint-imports
	$(BIN)/python scripts/links.py

docs: $(VENV)/.tested  ## the pages of docs as a site that needs no network, in site/
	$(BIN)/python scripts/site.py

bench: $(VENV)/.tested
	$(BIN)/python -m benchmarks

reproduce: $(VENV)/.tested
	$(BIN)/python -m experiments $(MODE)

reference: $(VENV)/.installed  ## write the generated pages and pictures of docs anew
	$(BIN)/python scripts/reference.py
	$(BIN)/python scripts/python_reference.py
	$(BIN)/python scripts/guarantees.py
	$(BIN)/python scripts/trade_offs.py
	$(BIN)/python -m scripts.rehearsals

pins: $(VENV)/.tested  ## print the pin of every proof; reread a proof before you change its pin
	$(BIN)/python -m tests.proof_pins

lock: $(VENV)/.tested  ## write locks/ anew: the newest versions that pyproject.toml allows, with digests and no address
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/python scripts/lock.py --upgrade

test-lowest:  ## the fast tests with the oldest versions that pyproject.toml allows, in an environment of their own
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check uv
	.venv-lowest/bin/python -m uv pip install --quiet --python .venv-lowest/bin/python --resolution lowest-direct --editable ".[all]" --group test
	.venv-lowest/bin/python -m pytest -n $(WORKERS) -m "not slow and not statistics and not campaign" tests

system:
	scripts/system_packages.sh

$(VENV)/.made:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Wallflower needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	touch $@

$(VENV)/.installed: $(VENV)/.made pyproject.toml locks/run.txt
	scripts/install.sh $(BIN)/python run
	touch $@

$(VENV)/.tested: $(VENV)/.installed pyproject.toml locks/test.txt
	scripts/install.sh $(BIN)/python test
	touch $@

clean:
	rm -rf $(VENV) .venv-lowest demo site .mypy_cache .ruff_cache .pytest_cache .hypothesis
