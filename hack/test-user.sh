#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs the commands of the README in a clone of the last commit as an ordinary user whose environment names a proxy that does not answer: what runs on
# this machine is reached without it. The user has Go, git and make, and what every Debian system has. Modules come from the module cache. It runs from
# any working directory.

set -o errexit -o nounset -o pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

scratch="$(mktemp -d "${TMPDIR:-/tmp}/test-user.XXXXXX")"
readonly scratch
trap 'chmod -R u+w -- "${scratch}"; rm -rf -- "${scratch}"' EXIT

git clone --quiet --no-hardlinks . "${scratch}/mallard"
mkdir "${scratch}/home" "${scratch}/tmp" "${scratch}/bin"
# Of the programs of the machine, the user has those of the packages that Debian calls essential.
dpkg-query --show --showformat='${Essential} ${Package}\n' | sed -n 's/^yes //p' | xargs dpkg --listfiles mawk | grep -E '^(/usr)?/bin/' |
  while read -r program; do if [[ -x "${program}" ]]; then ln -sf "${program}" "${scratch}/bin/"; fi; done
ln -sf "$(type -P go)" "$(type -P git)" "$(type -P make)" "$(type -P sh)" "$(type -P awk)" "${scratch}/bin/"
cp -R -- "$(go env GOMODCACHE)/cache/download" "${scratch}/modules"
as_user=(env -i HOME="${scratch}/home" TMPDIR="${scratch}/tmp" PATH="${scratch}/bin" GOTOOLCHAIN=local GOPROXY="file://${scratch}/modules" GONOSUMDB='*'
  GOFLAGS='-buildvcs=false -modcacherw' HTTP_PROXY=http://127.0.0.1:9 HTTPS_PROXY=http://127.0.0.1:9)
if ((EUID == 0)); then
  readonly ordinary=12345
  chown -R "${ordinary}:${ordinary}" "${scratch}"
  as_user=(setpriv --reuid "${ordinary}" --regid "${ordinary}" --clear-groups "${as_user[@]}")
fi
cd -- "${scratch}/mallard"
"${as_user[@]}" make run WAIT=ready
"${as_user[@]}" make run VIA=ko WAIT=ready
"${as_user[@]}" make test

# Where the system permits no user namespaces, the error names the remedy before anything is built.
# shellcheck disable=SC2016 # the inner shell expands it
message="$("${as_user[@]}" unshare --user --map-current-user --keep-caps \
  bash -c 'echo 0 >/proc/sys/user/max_user_namespaces && ! make run VIA=ko 2>&1')"
grep -F user.max_user_namespaces <<<"${message}"
