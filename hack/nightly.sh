#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Holds the parts of hack/test.sh that only the nightly tier runs, after those of the other tiers, for that script to source.

nightly_parts='verify lint alerts race repeat'

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

# alerts has promtool run the tests of the alerts. Without the clients of clouds in which Prometheus can discover targets, it compiles in a minute.
alerts() {
  if [[ -d monitoring ]]; then
    go build -modfile=hack/tools/go.mod -tags=remove_all_sd -o .cache/promtool github.com/prometheus/prometheus/cmd/promtool
    part "the alerts" .cache/promtool test rules monitoring/rules_test.yaml
  fi
}

# race needs a C compiler. The operator's processes are built without the detector; the suites contain the libraries.
race() {
  export CGO_ENABLED=1
  units -race
  run "data races in the hardening" hardening -race ./...
  run "data races in the libraries" . -race ./test/{crud,events,hooks,observe,reconciler}
  unset CGO_ENABLED
}

# repeat runs the suites of make test three times in random order, so that they do not depend on what is left of others.
repeat() { suites -tags= -short -shuffle on -count 3; }

if [[ -e hack/nightly-products.sh ]]; then
  # shellcheck source=hack/nightly-products.sh
  source hack/nightly-products.sh
fi
readonly nightly_parts
