#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Writes third_party/: the licenses and notices of everything that is linked into the programs of images, and a list of them. The
# images carry it as their data, as most licenses require. It fails on a license that requires more than redistribution of its text. An argument
# names another folder to write to, by its absolute path. It runs from any working directory.

set -o errexit -o nounset -o pipefail

if [[ $# -gt 0 && "$1" != /* ]]; then
  echo "licenses: the folder to write to must be an absolute path, not $1" >&2
  exit 2
fi
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
readonly output="${1:-${PWD}/third_party}"

# The programs are looked at as images are built: no flags or workspace of the caller's, no C. The flags of the compiler are those of hack/modules.sh.
GOFLAGS="$(paste -sd' ' hack/goflags)"
export GOWORK=off GOFLAGS CGO_ENABLED=0 GOGC="${GOGC:-400}"

# MPL-2.0 also asks to say where the source of its files is: the list does, by module and version, and none of the files is changed.
readonly allowed=' Apache-2.0 BSD-2-Clause BSD-3-Clause ISC MIT MPL-2.0 '

echo "licenses: ${output##*/}" >&2
scratch="$(mktemp -d "${TMPDIR:-/tmp}/update-licenses.XXXXXX")"
readonly scratch
trap 'rm -rf -- "${scratch}"' EXIT
printf '{{range .}}{{.LicensePath}},{{.LicenseName}},{{.Name}}\n{{end}}' >"${scratch}/template"

# As hack/update-codegen.sh builds its tools.
readonly tool="${PWD}/.cache/tools/go-licenses"
mkdir -p "${tool%/*}"
go -C hack/tools build -buildvcs=false -o "${tool}" github.com/google/go-licenses/v2
goroot="$(go env GOROOT)"
cache="$(go env GOMODCACHE)"
readonly goroot cache
mapfile -t programs < <(find cmd -mindepth 2 -maxdepth 2 -name kodata -printf './%h\n' | sort)
go mod download
# A folder that replaces a module has no version. In a release of the operator, nothing is replaced.
mapfile -t own < <(go list -m -f '{{with .Replace}}{{if not .Version}}{{$.Path}}{{end}}{{end}}' all | sed '/./!d')
own+=("$(go list -m)")
reports=()
for architecture in amd64 arm64; do
  # It would look for the page of each license in the web, which is not needed here. By GOROOT it knows the standard library.
  GOROOT="${goroot}" GOOS=linux GOARCH="${architecture}" HTTPS_PROXY=http://127.0.0.1:9 "${tool}" report "${programs[@]}" --ignore "$(IFS=,; echo "${own[*]}")" \
    --template "${scratch}/template" >"${scratch}/found-${architecture}" 2>"${scratch}/log-${architecture}" &
  reports+=($!)
done
for report in "${reports[@]}"; do
  wait "${report}" || { cat -- "${scratch}"/log-* >&2; exit 1; }
done
cat -- "${scratch}"/found-* >"${scratch}/found"
if [[ ! -s "${scratch}/found" ]]; then
  echo "licenses: ${tool##*/} has found no linked module" >&2
  exit 1
fi
echo "${goroot}/LICENSE,BSD-3-Clause,std" >>"${scratch}/found"

# copy FILE FOLDER copies a text. git would change the line ends anyway, and what is generated has to be what is committed.
copy() { mkdir -p -- "$2" && tr -d '\r' <"$1" >"$2/${1##*/}"; }

readonly made="${scratch}/third_party"
mkdir -- "${made}"
while IFS=, read -r file license library; do
  if [[ "${allowed}" != *" ${license} "* ]]; then
    echo "licenses: ${library} is licensed as ${license}, which requires more than redistribution of its text, or is not known" >&2
    exit 1
  fi
  # CACHE/MODULE@VERSION/FOLDER/LICENSE, or GOROOT/LICENSE
  inside="${file#"${cache}/"}"
  if [[ "${file}" == "${goroot}/LICENSE" ]]; then
    inside=std@/LICENSE
  fi
  module="${inside%%@*}"
  version="${inside#*@}"
  path="${module}/${version#*/}"
  for text in "${file}" "${file%/*}"/NOTICE{,.txt,.md}; do
    if [[ -f "${text}" ]]; then
      copy "${text}" "${made}/${path%/*}"
    fi
  done
  echo "${module},${version%%/*},${license},${path}" >>"${scratch}/list"
done < <(LC_ALL=C sort -u "${scratch}/found")
{
  echo module,version,license,file
  LC_ALL=C sort -u "${scratch}/list"
} >"${made}/licenses.csv"

# A license that is not allowed leaves the folder as it was.
rm -rf -- "${output}"
mv -- "${made}" "${output}"
