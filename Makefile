# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Needs Go, git and make, nothing else. Every target works from a fresh clone and on its own.

SHELL := bash
.SHELLFLAGS := -o errexit -o nounset -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:

# Nothing that we ship or test needs a C compiler; a workspace would let one module see another's dependencies.
export CGO_ENABLED = 0
export GOWORK = off
# As hack/modules.sh: nothing is compiled twice.
export GOFLAGS := $(shell go env GOFLAGS; cat hack/goflags)

# WAIT=ready makes `make run` end once every sample is Ready.
WAIT ?=
# VIA=ko has `make run` apply the operator with ko, so that it runs from images in Pods.
VIA ?=
# VERSIONS=all has `make run` serve all versions of each kind, as kustomize/overlays/all-versions does. For make fork, the versions that the fork keeps.
VERSIONS ?=
# OVERLAY=NAME has `make run` add the manifests of kustomize/overlays/NAME, which must be an overlay that only adds manifests.
OVERLAY ?=
# KUBECONFIG=PATH has `make run` use the cluster of its current context instead of starting a control plane, and CONFIRM=CONTEXT confirms that where no
# terminal asks. Both count only on the command line, because other tools read KUBECONFIG from the environment.
command_line = $(findstring command line,$(origin $(1)))
# ARGS are passed to the command that a target runs, for example ARGS='get pods -A'.
ARGS ?=
# VERSION of a release, such as v1.2.3. The tag of the commit by default. For make kind and make version, a version of the API.
VERSION ?=
# KIND is the kind to add, to change or to remove, in CamelCase. OWNS is the kind of its child, or external for an object of a service outside of the cluster. SCOPE is Namespaced or
# Cluster, and FORCE=1 deletes files with changes that are not committed.
KIND ?=
OWNS ?=
SCOPE ?=
FORCE ?=
# How long one test package may take. Those of the nightly tier make and test forks, which is slow on a busy machine.
TEST_TIMEOUT ?= 80m
# PARTS of the tests to run: units, suites, modules, and for make test-nightly also those of hack/nightly.sh. All by default.
PARTS ?=
# How many random inputs each test of `make fuzz` tries.
INPUTS ?= 10000
# How long `make fuzz` runs each fuzz test.
FUZZ_TIME ?= 30s
# How long `make bench` runs each benchmark.
BENCH_TIME ?= 1s
# How many objects `make bench-peer` has each operator reconcile, how often, and how long it measures each while nothing changes.
OBJECTS ?= 1000
RUNS ?= 3
IDLE ?= 1m
# The program that changes the repository as a template. It is built, since Ctrl-C would end go run before the program has cleaned up. The compiler ends
# sooner if it collects less garbage.
TEMPLATE = GOGC=400 go build -o .cache/template ./hack/template && .cache/template

.PHONY: help
help: ## Lists the targets
	@echo 'Usage: make TARGET [VARIABLE=value]'
	@echo
	@sed -n 's/^\([a-z][a-z-]*\):[^#]*## \(.*\)/\1 \2/p' $(MAKEFILE_LIST) | while read -r target text; do printf '  %-14s %s\n' "$$target" "$$text"; done

.PHONY: run
run: ## Starts a control plane, the operator and the samples (WAIT=ready: ends once all are Ready; VIA=ko: runs images; VERSIONS=all: serves old ones; OVERLAY=hooks: runs hooks; KUBECONFIG=PATH: in that cluster)
	@go build -o .cache/run github.com/mallard-dev/mallard/localcluster/env/cmd/run
	@# On a terminal only a separate process group gets Ctrl-C: make, which would end with an error, would get it too.
	@# Otherwise the program replaces the shell, so that make passes SIGTERM on to it.
	@if [ -t 0 ]; then set -m; else exec=exec; fi; $${exec:-} .cache/run $(if $(WAIT),--wait=$(WAIT)) $(if $(VIA),--via=$(VIA)) $(if $(VERSIONS),--versions=$(VERSIONS)) \
		$(if $(OVERLAY),--config=config --config=kustomize/overlays/$(OVERLAY)) $(if $(call command_line,KUBECONFIG),'--kubeconfig=$(KUBECONFIG)') $(if $(call command_line,CONFIRM),'--confirm=$(CONFIRM)') $(ARGS) || exit $$?

.PHONY: localcluster
localcluster: ## Builds the local control plane, which run and test need
	go tool localcluster build

.PHONY: kubectl
kubectl: ## Runs the kubectl that is linked into the local control plane (ARGS='get pods -A')
	@go tool localcluster exec kubectl $(ARGS)

.PHONY: build
build: ## Builds the operator's binaries into bin/
	go build -o bin/ ./cmd/...

.PHONY: ko
ko: ## Runs the ko that is pinned (KO_DOCKER_REPO=REGISTRY ARGS='apply --filename config')
	@go tool -modfile=hack/tools/ko/go.mod ko $(ARGS)

.PHONY: release
release: ## Builds images for all platforms, pushes them and writes what users install into out/ (KO_DOCKER_REPO, VERSION)
	hack/release.sh

.PHONY: generate
generate: ## Generates deep copies, conversions, clients, CRDs and reference pages, and licenses (ARGS=kinds only those of the operator's kinds)
	hack/update-codegen.sh $(ARGS)
	hack/update-licenses.sh

.PHONY: kind
kind: ## Adds a kind with its reconciler and tests (KIND=Widget [VERSION=v1] [OWNS=apps/v1.Deployment|external] [SCOPE=Cluster])
	@$(TEMPLATE) kind 'KIND=$(KIND)' 'VERSION=$(VERSION)' 'OWNS=$(OWNS)' 'SCOPE=$(SCOPE)'

.PHONY: version
version: ## Adds a version of a kind, converts between it and the others, and stores it (KIND=Widget VERSION=v2)
	@$(TEMPLATE) version 'KIND=$(KIND)' 'VERSION=$(VERSION)'

.PHONY: drop
drop: ## Removes a kind (KIND=Widget [FORCE=1])
	@$(TEMPLATE) drop 'KIND=$(KIND)' 'FORCE=$(FORCE)'

.PHONY: check
check: ## Checks format, vet and staticcheck, and runs the operator's unit tests: before each commit
	hack/verify.sh format shell vet
	PARTS=units hack/test.sh $(ARGS)

.PHONY: lint
lint: ## Lints every module with all linters (ARGS=--fix repairs what can be repaired)
	hack/lint.sh $(ARGS)

.PHONY: verify
verify: ## Runs every check that needs no cluster (ARGS='vet modules' runs only these)
	hack/verify.sh $(ARGS)

.PHONY: test
test: ## Runs the tests that must pass before a change lands (PARTS=units, suites or modules)
	PARTS="$(PARTS)" TEST_TIMEOUT=$(TEST_TIMEOUT) hack/test.sh $(ARGS)

.PHONY: test-nightly
test-nightly: ## Runs all tests and all linters, which takes hours; needs npm, Chromium, a C compiler and SAMPLE_CONTROLLER (PARTS as in hack/nightly.sh)
	TIER=nightly PARTS="$(PARTS)" TEST_TIMEOUT=$(TEST_TIMEOUT) hack/test.sh $(ARGS)

.PHONY: test-versions
test-versions: ## Runs the suites at the other versions of Kubernetes (ARGS='1.34' only at that one)
	TEST_TIMEOUT=$(TEST_TIMEOUT) hack/test-versions.sh $(ARGS)

.PHONY: fuzz
fuzz: ## Converts ten times as many random objects as the tests do (INPUTS=100000 a hundred times as many), and runs each fuzz test for FUZZ_TIME=30s
	MALLARD_TEST_INPUTS=$(INPUTS) go test -count 1 -timeout $(TEST_TIMEOUT) ./pkg/apis/samples/... ./pkg/webhook $(ARGS)
	for module in $(wildcard conversion conversion/fixtures conversion/example); do \
		MALLARD_TEST_INPUTS=$(INPUTS) go -C $$module test -count 1 -timeout $(TEST_TIMEOUT) ./... $(ARGS) || exit; done
	FUZZ_TIME=$(FUZZ_TIME) hack/fuzz.sh

.PHONY: mutants
mutants: ## Applies each fault of hack/mutants and requires that a test finds it (ARGS='test' only those of make test)
	hack/mutants.sh $(ARGS)

.PHONY: cover
cover: ## Runs the unit tests and writes their coverage, without generated code, to coverage.txt
	go test -timeout $(TEST_TIMEOUT) -coverprofile coverage.out -coverpkg "$$(go list ./... | grep -vE '/(pkg/client|test)/' | paste -sd, -)" $$(go list ./... | grep -v /test/)
	grep -v zz_generated coverage.out >coverage.txt
	go tool cover -func coverage.txt

.PHONY: bench
bench: localcluster ## Runs the benchmarks (BENCH_TIME=10s runs each for longer)
	go test -tags nightly -run '^$$' -bench . -benchtime $(BENCH_TIME) -benchmem -timeout $(TEST_TIMEOUT) \
		$$(git grep -l '^func Benchmark' -- observe pkg test | xargs -n 1 dirname | sort -u | sed 's|^|./|')
	for module in $(wildcard conversion conversion/fixtures conversion/zoo); do \
		go -C $$module test -run '^$$' -bench . -benchtime $(BENCH_TIME) -benchmem -timeout $(TEST_TIMEOUT) ./... || exit; done

.PHONY: bench-peer
bench-peer: localcluster ## Compares the operator with others, for docs/reference/benchmarks.md; on Linux (SAMPLE_CONTROLLER=PATH [OBJECTS=10000] [RUNS=3] [IDLE=8m] [WITHOUT=OPERATOR,...])
	@SAMPLE_CONTROLLER='$(abspath $(SAMPLE_CONTROLLER))' go test -tags nightly,peers -vet=off -count 1 -timeout 24h -run '^TestPeers_' -v ./test/costs \
		-objects $(OBJECTS) -runs $(RUNS) -idle $(IDLE) -without "$(WITHOUT)" -page "$$PWD/docs/reference/benchmarks.md"

.PHONY: website
website: ## Builds the website from the documents into out/website; needs npm (ARGS=server serves it)
	@hack/website.sh $(ARGS)

.PHONY: fork
fork: ## Makes a fork of the last commit (MODULE, GROUP, NAME, NAMESPACE and TO; docs/how-to/fork.md has the variables that choose its parts)
	@$(TEMPLATE) fork $(foreach variable,MODULE GROUP NAME NAMESPACE TO KINDS VERSIONS WITHOUT EJECT MODULES AUTHORS LICENSE,'$(variable)=$($(variable))')

.PHONY: update-template
update-template: ## Merges later commits of the template into a fork (FROM=PATH-OR-URL; REF names a commit, by default the last)
	@$(TEMPLATE) update 'FROM=$(FROM)' 'REF=$(REF)'

.PHONY: clean
clean: ## Removes what was built in the checkout; build caches are the go command's
	rm -rf bin out .cache coverage.out coverage.txt
