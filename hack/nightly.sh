#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Holds the parts of hack/test.sh that only the nightly tier runs, after those of the other tiers, for that script to source.

# shellcheck disable=SC2034 # hack/test.sh reads it
readonly nightly_parts='verify lint mutants lines zoo images website race peers user versions forks'

# part TITLE COMMAND... runs a part that is not go test.
part() {
  local -r title="$1" started="${SECONDS}"
  shift
  printf '\n== test: %s\n' "${title}"
  "$@" || failed+=("${title}")
  echo "-- test: ${title}: $((SECONDS - started)) s"
}

verify() { part "make verify" hack/verify.sh; }

lint() { part "all linters" hack/lint.sh; }

mutants() { part "the faults of hack/mutants" hack/mutants.sh; }

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
      ./keyed/... ./names/... ./units/... github.com/mallard-dev/mallard/conversion{,/conversiontest}
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

# race needs a C compiler. The operator's processes are built without the detector; the suites contain the libraries.
race() {
  export CGO_ENABLED=1
  units -race
  run "data races in the hardening" hardening -race ./...
  run "data races in the libraries" . -race ./test/{crud,events,hooks,observe,reconciler}
  unset CGO_ENABLED
}

# peers builds and runs controllers of others. SAMPLE_CONTROLLER is the folder of one that is not on the module proxy.
peers() { run "controllers of others, hardened" . -tags nightly,peers -run '^TestPeers' ./test/hardening; }

user() { part "an ordinary user behind a proxy" hack/test-user.sh; }

versions() { part "other versions of Kubernetes" hack/test-versions.sh; }

forks() {
  part "a fork" hack/test-fork.sh
  # This one lacks the kind that the template begins with.
  part "a smaller fork" hack/test-fork.sh KINDS=SimpleDeployment WITHOUT=crud,hooks,migrate,observer
}
