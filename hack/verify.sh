#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs every check that needs no cluster, all of them even if one fails, and prints at the end which failed. Arguments choose checks by
# name. It runs from any working directory and leaves the checkout as it is.

set -o errexit -o nounset -o pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
export GOWORK=off CGO_ENABLED=0

# shellcheck source=hack/modules.sh
source hack/modules.sh

verify_codegen() { hack/verify-codegen.sh; }

verify_licenses() { hack/verify-licenses.sh; }

verify_modules() {
  local module failed=0
  for module in "${all_modules[@]}"; do
    go -C "${module}" mod tidy -diff || failed=1
  done
  for module in $(sources 'localcluster/versions/*.mod'); do
    go -C localcluster mod tidy -diff -modfile="${module#localcluster/}" || failed=1
  done
  return "${failed}"
}

verify_format() {
  local files
  files="$(sources '*.go' | tr '\n' '\0' | xargs -0 gofmt -l)"
  if [[ -n "${files}" ]]; then
    printf 'gofmt would change these files:\n%s\n' "${files}" >&2
    return 1
  fi
}

# The linters see what is compiled for this system. What differs on macOS is compiled here; make run, which CI runs there, compiles
# the rest, and make test-versions what differs for other versions of Kubernetes.
verify_darwin() {
  local folder failed=0
  for folder in $(sources '*_other.go' | xargs -r -n 1 dirname | sort -u); do
    GOOS=darwin go -C "${folder}" vet . || failed=1
  done
  return "${failed}"
}

# go vet and staticcheck are cheap and rarely wrong. All other linters are those of make lint. Linters look at what a package imports, so that modules
# which depend on all of Kubernetes, on controller-runtime, ko or Hugo are linted there only.
verify_vet() {
  local module packages staticcheck failed=0
  staticcheck="$(go -C hack/tools/lint tool -n staticcheck)" || return
  for module in "${code_modules[@]}"; do
    case "${module}" in
      localcluster | *controllerruntime* | conversion/e2e | conversion/zoo | hack/tools/ko | website) continue ;;
    esac
    packages=(./...)
    if [[ "${module}" == . ]]; then
      mapfile -t -O 1 packages < <(test_programs)
    fi
    go -C "${module}" vet -tags nightly,peers "${packages[@]}" || failed=1
    (cd -- "${module}" && "${staticcheck}" -tags nightly,peers -checks inherit,-SA1019,-ST1000 "${packages[@]}") || failed=1
  done
  echo "left to make lint: the other linters of .golangci.yaml, and the modules that depend on all of Kubernetes, controller-runtime, ko or Hugo"
  return "${failed}"
}

verify_shell() {
  local file failed=0
  while IFS= read -r file; do
    bash -n "${file}" || failed=1
  done < <(sources '*.sh' .ci/run)
  return "${failed}"
}

verify_workflows() {
  local actionlint
  actionlint="$(go -C hack/tools/actionlint tool -n actionlint)" || return
  sources '.github/workflows/*' | xargs -r "${actionlint}"
}

# License headers, layering, marks of generated files, pinned actions and the like are Go tests.
verify_repository() { go test -vet=off -count 1 ./test/repository/...; }

readonly known=(modules format shell vet codegen licenses darwin workflows repository)
checks=("$@")
if [[ ${#checks[@]} -eq 0 ]]; then
  checks=("${known[@]}")
fi
for name in "${checks[@]}"; do
  if [[ " ${known[*]} " != *" ${name} "* ]]; then
    echo "verify: there is no check ${name}; there are: ${known[*]}" >&2
    exit 2
  fi
done

state() { git status --porcelain=v1 && git diff; }

# check NAME runs one and prints its result. It is called without errexit, and not in a condition, for then that would be off inside the
# check too.
check() {
  local -r started=${SECONDS}
  local status
  printf '\n== verify: %s\n' "$1"
  (set -o errexit; "verify_$1")
  status=$?
  echo "-- verify: $1: $((SECONDS - started)) s"
  return "${status}"
}

before="$(state)"
failed=()
meanwhile=''
output="$(mktemp "${TMPDIR:-/tmp}/verify.XXXXXX")"
readonly output
trap 'rm -f -- "${output}"' EXIT
set +o errexit
for name in "${checks[@]}"; do
  if [[ "${name}" == modules ]]; then
    # It waits for the network while the others use the processors.
    check modules >"${output}" 2>&1 &
    meanwhile=$!
    continue
  fi
  check "${name}"
  if (($? != 0)); then
    failed+=("${name}")
  fi
done
if [[ -n "${meanwhile}" ]]; then
  wait "${meanwhile}"
  if (($? != 0)); then
    failed+=(modules)
  fi
  cat -- "${output}"
fi
set -o errexit

if [[ "$(state)" != "${before}" ]]; then
  failed+=("checkout")
  echo "verify: the checks, or a concurrent program, changed the checkout" >&2
fi
echo
if [[ ${#failed[@]} -gt 0 ]]; then
  echo "verify: failed: ${failed[*]}" >&2
  exit 1
fi
echo "verify: all is in order (${checks[*]})"
