# Stint's chores. GNU make and Go are needed; gcc for the race detector.

GO         ?= go
PKG        ?= ./...
FUZZTIME   ?= 10s
BENCH      ?= .
COUNT      ?= 8
SOAKTIME   ?= 10m
LINT       := $(GO) tool -modfile=tools/go.mod staticcheck
MODULES     = $(patsubst %/go.mod,%,$(filter-out tools/go.mod,$(wildcard */go.mod)))

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10
	@echo 'Variables: PKG FUZZTIME BENCH COUNT SOAKTIME, as in: make fuzz PKG=./gossip FUZZTIME=1m'

.PHONY: test
test: cc net check ## check, then all tests with the race detector
	$(GO) test -race -timeout 10m $(PKG)
	@set -e; for dir in $(MODULES); do \
		echo "# module $$dir"; (cd $$dir && $(GO) vet ./... && $(GO) test -race -timeout 10m ./...); \
	done

.PHONY: check
check: ## gofmt, go vet, staticcheck, and the architecture
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then \
		echo "not formatted, run gofmt -w on:"; echo "$$unformatted"; exit 1; \
	fi
	$(GO) vet ./...
	$(LINT) ./...
	$(GO) test -run '^(TestArchitecture|TestStyle|TestHouse)$$' .

.PHONY: fuzz
fuzz: ## each fuzz target for FUZZTIME
	@GO="$(GO)" .ci/fuzz "$(FUZZTIME)" $(PKG)

.PHONY: bench
bench: ## benchmarks, COUNT interleaved rounds, in the form benchstat reads
	@for round in $$(seq $(COUNT)); do $(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count 1 $(PKG) || exit 1; done

.PHONY: soak
soak: net ## the simulator on fresh seeds for SOAKTIME, then processes under random faults for as long again
	@for dir in ./internal/sim ./cmd/stint; do \
		$(GO) test -list '^TestSoak$$' $$dir | grep -q '^TestSoak' || { echo "$$dir has no TestSoak"; exit 1; }; done
	STINT_SOAK=$(SOAKTIME) $(GO) test -run '^TestSoak$$' -count 1 -timeout 0 -v ./internal/sim
	STINT_SOAK=$(SOAKTIME) $(GO) test -run '^TestSoak$$' -count 1 -timeout 0 -v ./cmd/stint

.PHONY: chaos
chaos: net ## the tests with real processes in their long form: some five minutes
	STINT_SOAK=1m $(GO) test -run '^TestChaos' -count 1 -parallel 1 -timeout 0 -v ./cmd/stint

.PHONY: cc
cc: # the race detector is in C
	@.ci/cc

.PHONY: net
net: # tests cut real networks
	@.ci/net
