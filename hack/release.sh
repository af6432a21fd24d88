#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Builds the images of config/, post-install/ and the overlays for each platform of .ko.yaml, pushes them to KO_DOCKER_REPO, and writes the files
# that users install into out/. docs/how-to/install.md lists them. The same sources, VERSION, SOURCE_DATE_EPOCH, repository and toolchain give the
# same bytes. It does not sign, and tags nothing in git. It runs from any working directory.

set -o errexit -o nounset -o pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

# usage ERROR reports a setting that is not valid, before anything is built.
usage() { echo "release: $1" >&2; exit 2; }

(($# == 0)) || usage "$*: it takes no arguments, only KO_DOCKER_REPO, VERSION and SOURCE_DATE_EPOCH"

readonly example='such as KO_DOCKER_REPO=registry.example.com/mallard'
[[ -n "${KO_DOCKER_REPO:-}" ]] || usage "KO_DOCKER_REPO is not set: it names the repository that the images are pushed to, ${example}"
[[ "${KO_DOCKER_REPO}" =~ ^[a-z0-9.:_/-]+$ ]] || usage "KO_DOCKER_REPO=${KO_DOCKER_REPO} must be a repository that images can be pushed to, ${example}"
[[ "${KO_DOCKER_REPO}" != @(ko|kind).local* ]] || usage "KO_DOCKER_REPO=${KO_DOCKER_REPO} must be in a registry, from which clusters pull, ${example}"

if [[ -z "${SOURCE_DATE_EPOCH:-}" ]]; then
  SOURCE_DATE_EPOCH="$(git log -1 --format=%ct)" || usage 'SOURCE_DATE_EPOCH is not set, and git does not know the date of the commit'
fi
[[ "${SOURCE_DATE_EPOCH}" =~ ^[0-9]+$ ]] || usage "SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH} must be a number of seconds since 1970, such as the output of date +%s"

# A version of a Go module that is short enough for a label.
readonly versions='^v(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}(-[0-9A-Za-z]([0-9A-Za-z.-]*[0-9A-Za-z])?)?$'
if [[ -z "${VERSION:-}" ]]; then
  VERSION="$(git describe --tags '--match=v*' --always --dirty --abbrev=12)" || usage 'VERSION is not set, and git does not know the commit'
  [[ "${VERSION}" =~ ${versions} ]] || VERSION="v0.0.0-${VERSION}"
fi
[[ "${VERSION}" =~ ${versions} && ${#VERSION} -le 63 ]] || usage "VERSION=${VERSION} must be a version of at most 63 characters such as v1.2.3 or v1.2.3-rc.1"
readonly VERSION SOURCE_DATE_EPOCH
echo "release: Mallard ${VERSION}, dated ${SOURCE_DATE_EPOCH}" >&2

# Everything is made in a new folder and replaces an earlier release once it is complete.
mkdir -p -- out
scratch="$(mktemp -d "${PWD}/out/.release-XXXXXX")"
readonly scratch made="${scratch}/made" tree="${scratch}/mallard-${VERSION}"
trap 'rm -rf -- "${scratch}"' EXIT
mkdir -- "${made}" "${tree}"
cp -R -- config samples LICENSE "${tree}"
# A fork may lack these.
for folder in post-install kustomize monitoring; do
  if [[ -d "${folder}" ]]; then
    cp -R -- "${folder}" "${tree}"
  fi
done

mapfile -t programs < <(grep -rhoE 'ko://[A-Za-z0-9._~/-]+' "${tree}" | LC_ALL=C sort -u)
((${#programs[@]})) || { echo 'release: no manifest has an image in the form of ko (ko://IMPORTPATH), so that there is nothing to release' >&2; exit 1; }

# The base image has no files: the programs are static, and find the CA of the API server next to their token. It is an OCI image layout in
# the cache of ko, which looks up the index and each image there, so that no other registry is needed.
readonly layout="${scratch}/cache/img" oci=application/vnd.oci.image
mkdir -p -- "${layout}/blobs/sha256"
# blob TYPE CONTENT [FIELDS] stores a blob and prints its descriptor with further fields.
blob() {
  local sum
  sum="$(printf %s "$2" | sha256sum)"
  printf %s "$2" >"${layout}/blobs/sha256/${sum%% *}"
  printf '{"mediaType": "%s", "size": %d, "digest": "sha256:%s"%s}' "${oci}.$1" "${#2}" "${sum%% *}" "${3:+, $3}"
}
images=
for platform in $(sed -n 's|^  - \([a-z]*/[a-z0-9]*\)$|\1|p' .ko.yaml); do
  fields="\"os\": \"${platform%/*}\", \"architecture\": \"${platform#*/}\""
  config="$(blob config.v1+json "{${fields}, \"config\": {\"WorkingDir\": \"/\"}, \"rootfs\": {\"type\": \"layers\", \"diff_ids\": []}}")"
  images+="${images:+, }$(blob manifest.v1+json "{\"schemaVersion\": 2, \"mediaType\": \"${oci}.manifest.v1+json\", \"config\": ${config}, \"layers\": []}" "\"platform\": {${fields}}")"
done
base="$(blob index.v1+json "{\"schemaVersion\": 2, \"mediaType\": \"${oci}.index.v1+json\", \"manifests\": [${images}]}")"
echo "{\"schemaVersion\": 2, \"manifests\": [${base}, ${images}]}" >"${layout}/index.json"
echo '{"imageLayoutVersion": "1.0.0"}' >"${layout}/oci-layout"

# ko builds as .ko.yaml says. Settings of the caller must not change it.
unset GOEXPERIMENT GOAMD64 GOARM64 GOOS GOARCH GOARM
export GOFLAGS=-buildvcs=false GOWORK=off SOURCE_DATE_EPOCH KO_DATA_DATE_EPOCH="${SOURCE_DATE_EPOCH}" KOCACHE="${scratch}/cache"
KO_DEFAULTBASEIMAGE="mallard.invalid/empty@$(sed 's/.*"digest": "\([^"]*\)".*/\1/' <<<"${base}")"
export KO_DEFAULTBASEIMAGE
go tool -modfile=hack/tools/ko/go.mod ko build --base-import-paths --tags "${VERSION}" --image-user 65532:65532 \
  --image-label "org.opencontainers.image.version=${VERSION},org.opencontainers.image.licenses=Apache-2.0" \
  --sbom-dir "${made}/sbom" "${programs[@]}" | LC_ALL=C sort >"${made}/images.txt"

# The manifests name the images by digest, and the version in their labels.
edits=(-e "s|^\( *app\.kubernetes\.io/version:\) devel\$|\1 ${VERSION}|")
for program in "${programs[@]}"; do
  edits+=(-e "s|${program}\$|$(grep -F "/${program##*/}:" "${made}/images.txt")|")
done
find "${tree}" -type f -name '*.yaml' -exec sed -i.unpinned "${edits[@]}" {} +
find "${tree}" -name '*.unpinned' -delete
if [[ -d "${tree}/monitoring" ]]; then
  # A PrometheusRule holds the rules below its spec.
  sed 's/^\(.\)/  \1/' "${tree}/monitoring/rules.yaml" >>"${tree}/monitoring/prometheusrule.yaml"
fi

# one_file COMMENT FILE… prints manifests as one file, in the order of kubectl apply --recursive.
one_file() {
  echo "# $1"
  for file in "${@:2}"; do
    echo '---'
    cat -- "${file}"
  done
}
cd -- "${tree}"
one_file "Mallard ${VERSION}: kubectl apply -f install.yaml" config/*.yaml >"${made}/install.yaml"
if [[ -d post-install ]]; then
  one_file "Migrates to Mallard ${VERSION}: kubectl replace --force -f post-install.yaml" post-install/*.yaml >"${made}/post-install.yaml"
fi
if [[ -d monitoring ]]; then
  # Without what configures Prometheus itself.
  mapfile -t objects < <(grep -l '^apiVersion:' monitoring/*.yaml)
  one_file 'Alerts and scraping by the Prometheus operator: kubectl apply -f monitoring.yaml' "${objects[@]}" >"${made}/monitoring.yaml"
fi
tar --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@${SOURCE_DATE_EPOCH}" -C "${scratch}" -cf - "${tree##*/}" |
  gzip -9 -n >"${made}/kustomize.tar.gz"
cd -- "${made}"
find . -type f | sed 's|^\./||' | LC_ALL=C sort | xargs sha256sum >"${scratch}/checksums.txt"
mv -- "${scratch}/checksums.txt" .

for file in *; do
  rm -rf -- "../../${file}"
  mv -- "${file}" ../..
done
cd -- ../../..
echo "Mallard ${VERSION} is in ${PWD}/out, its images in ${KO_DOCKER_REPO}"
