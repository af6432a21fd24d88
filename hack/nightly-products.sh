#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Holds the parts of the nightly tier that test the template and its products, which no fork has, for hack/nightly.sh to source.

# shellcheck disable=SC2154 # hack/nightly.sh sets it, and hack/test.sh reads it
nightly_parts="${nightly_parts} installations mutants fuzz lines zoo images website peers user versions forks"

# installations runs the suites that need no more than config/, as make test does, on config/ as it is, which serves v1 alone, and without webhooks.
installations() {
  local -a suites environment
  mapfile -t suites < <(grep -rl --include='*_test.go' 'harness\.Main(m)' test | xargs -n 1 dirname | sort -u)
  suites=(-tags= -short -p 3 "${suites[@]/#/./}")
  mkdir "${work}/no-webhooks"
  if ! build_environment || ! go tool localcluster exec kubectl kustomize kustomize/overlays/no-webhooks >"${work}/no-webhooks/all.yaml"; then
    failed+=("each installation")
    return
  fi
  environment=("${work}/run" --)
  run "v1 alone" . "${suites[@]}"
  environment=(env LOCALCLUSTER_KUBERNETES=1.36 "${work}/run" "--config=${work}/no-webhooks" --)
  # These tests create subjects that the webhook is to bind.
  run "without webhooks" . "${suites[@]}" -skip '_(DeletedWhileSubjects|Job_IsBound|OlderOneCannotBind|IsInThePatch)'
}

mutants() { part "the faults of hack/mutants" hack/mutants.sh; }

fuzz() {
  part "the fuzz tests" hack/fuzz.sh
  run "the generator on random APIs" conversion/cmd/assign-gen -run '^TestRun_ManyRandomTypes_' ./generate
}

# line KUBERNETES GO tests the library of conversions and generated code with other versions than those of go.mod.
line() {
  local folder
  if [[ ! -e conversion/fixtures/go.mod ]]; then
    return
  fi
  folder="$(mktemp -d "${PWD}/.cache/line.XXXXXX")"
  cp conversion/fixtures/go.{mod,sum} "${folder}"
  export GOTOOLCHAIN="$2"
  if go -C conversion/fixtures get -modfile="${folder}/go.mod" "k8s.io/apimachinery@$1" "k8s.io/api@$1"; then
    run "conversions with Kubernetes $1 and $2" conversion/fixtures -modfile="${folder}/go.mod" -short \
      ./functions/... ./moves/... ./shapes/... github.com/mallard-dev/mallard/conversion{,/conversiontest}
  else
    failed+=("conversions with Kubernetes $1 and $2")
  fi
  unset GOTOOLCHAIN
  rm -r -- "${folder}"
}

lines() {
  # go.mod has the first of the three latest lines of Kubernetes, and of the two of Go.
  line v0.36.6 go1.26.8
  line v0.37.2 go1.27.3
}

zoo() { run "the generator on APIs of others" conversion/zoo ./...; }

images() { run "the images of config/, and releases" hack/tools/ko ./...; }

# The tests of the website need a browser, and a font with the metrics of Arial for the diagrams.
website() {
  if ! type -P chromium chromium-browser google-chrome >/dev/null && type -P apt-get >/dev/null && ((EUID == 0)); then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends chromium fonts-liberation >/dev/null ||
      echo "test: installing Chromium failed" >&2
  fi
  run "the website" website ./...
}

# peers builds and runs controllers of others. SAMPLE_CONTROLLER is the folder of one that is not on the module proxy.
peers() { run "controllers of others" . -tags nightly,peers -run '^TestPeers' ./test/hardening ./test/costs; }

user() { part "an ordinary user behind a proxy" hack/test-user.sh; }

versions() { part "other versions of Kubernetes" hack/test-versions.sh; }

forks() {
  part "a fork" hack/test-fork.sh
  # This one lacks the kind that the template begins with.
  part "a smaller fork" hack/test-fork.sh KINDS=SimpleDeployment WITHOUT=hooks,migrate,observer
}
