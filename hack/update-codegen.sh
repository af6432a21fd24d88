#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Generates everything in this repository that is derived from declarations: deep copies, conversions, pkg/client, the CRDs of config/ with
# their list, the checksums of the examples in its ConfigMaps, and pages of docs/reference. It runs from any working directory and needs no
# GOPATH. It deletes the output of earlier runs, so that no file of a removed or renamed type is left. With RELEASE=yes the locks of conversions
# bind from now on. The argument kinds, which make fork, make kind, make version and make drop pass, leaves out the code of conversion/, which
# depends on no kind of the operator and takes most of the time.

set -o errexit -o nounset -o pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

if [[ "${*:-kinds}" != kinds ]]; then
  echo "codegen: there is no part $*; there is: kinds" >&2
  exit 2
fi

# The generators load packages through the go command: flags or a workspace of the caller's would change what they see. With the flags of hack/modules.sh,
# nothing that they are built from is compiled twice. They load all that the types import and end soon, so that collecting less garbage saves a quarter of
# their time.
GOFLAGS="$(paste -sd' ' hack/goflags)"
export GOWORK=off GOFLAGS CGO_ENABLED=0 GOGC="${GOGC:-400}"

# Kinds whose plural English does not form regularly, as Kind:plurals; more are separated by commas.
readonly plurals='Endpoints:Endpoints'

step() { echo "codegen: $*" >&2; }

# Tools are pinned in a separate module, so that their dependencies never become dependencies of the operator. They are built together, and not by go tool,
# which ignores the flags and so compiles the standard library again.
readonly tools="${PWD}/.cache/tools"
mkdir -p "${tools}"
go -C hack/tools build -buildvcs=false -o "${tools}/" \
  github.com/mallard-dev/mallard/hack/tools/crd-gen github.com/mallard-dev/mallard/hack/tools/generators knative.dev/pkg/configmap/hash-gen
readonly generators="${tools}/generators"
readonly header="${PWD}/hack/boilerplate/boilerplate.go.txt"

# generator NAME ARGUMENT... adds a generator to those that run together.
together=()
generator() {
  together+=(${together[@]:+--} "$1" --go-header-file "${header}" "${@:2}")
}

# folders_marked MARKER FOLDER... prints the folders of the Go files that hold the marker, each once.
folders_marked() {
  local -r marker="$1"
  shift
  { grep -rlE --include='*.go' "^// \\+${marker}" "$@" || true; } | while IFS= read -r file; do dirname -- "${file}"; done | sort -u
}

module="$(go list -m)"
client="${module}/pkg/client"
readonly module client

apis=() # import paths of the API versions with a client
inputs=() # the same as GROUP/VERSION under pkg/apis, which is how client-gen wants them
while IFS= read -r folder; do
  apis+=("${module}/${folder}")
  inputs+=(--input "${folder#pkg/apis/}")
done < <(folders_marked genclient pkg/apis)
ducks=() # import paths of the duck types with informers
while IFS= read -r folder; do
  ducks+=("${module}/${folder}")
done < <(folders_marked genduck pkg/apis)
if [[ ${#apis[@]} -eq 0 ]]; then
  echo "codegen: no type below pkg/apis carries the marker +genclient" >&2
  exit 1
fi

# The clients are generated next to the present ones and replace them at the end: while a generator fails, the old ones
# still compile. Folders whose name starts with a dot are no packages to the go command.
scratch="$(mktemp -d "${PWD}/.cache/codegen.XXXXXX")"
readonly scratch
trap 'rm -rf -- "${scratch}"' EXIT

# deep_copies MODULE FOLDER... generates the deep copies of a module's packages that request them below the folders.
deep_copies() (
  cd -- "$1"
  shift
  find "$@" -name 'zz_generated.deepcopy.go' -delete
  mapfile -t packages < <(folders_marked k8s:deepcopy-gen "$@")
  "${generators}" deepcopy-gen --go-header-file "${header}" --output-file zz_generated.deepcopy.go "${packages[@]/#/./}"
)

# conversions INTERFACE MODULE FOLDER... generates the conversions of each API below the folders that has several versions. In one run, the types
# that all of them import are loaded once.
conversions() (
  local -r interface="$1"
  cd -- "$2"
  shift 2
  mapfile -t versions < <(folders_marked conversion-gen: "$@")
  if [[ ${#versions[@]} -gt 0 ]]; then
    "${assign_gen}" --interface "${interface}" --go-header-file "${header}" --input-dirs "$(IFS=,; echo "${versions[*]/#/./}")" ${RELEASE:+--release}
  fi
)

# copy_types FROM TO copies the hand-written files of an API. In the copies, the paths of packages have the other folder, and the API's group
# begins with its name. The rest of the group is that of the project and may contain the name of the folder, too. Copies have the names of generated
# files, except for doc.go, where markers of a package are.
copy_types() {
  local file copy
  { grep -rlZ --include='*.go' '^// Code generated from ' "$2" || true; } | xargs -0 -r rm --
  while IFS= read -r file; do
    copy="$2/${file#"$1"/}"
    [[ "${copy##*/}" == doc.go ]] || copy="${copy%/*}/zz_generated.${copy##*/}"
    mkdir -p "${copy%/*}"
    sed -e "s|/$1/|/$2/|g" -e "s|+groupName=${1##*/}\\.|+groupName=${2##*/}.|" -e "1i// Code generated from $1 by hack/update-codegen.sh. DO NOT EDIT.\n" "${file}" >"${copy}"
  done < <(find "$1" -name '*.go' -not -name 'zz_generated.*')
}

# The rules that a type has to follow are checked first, by the generator of CRDs, which needs nothing but the types.
registered=()
while IFS= read -r folder; do
  registered+=("${module}/${folder}")
done < <(folders_marked kubebuilder:resource pkg/apis)

step "CRDs"
mkdir "${scratch}/config"
"${tools}/crd-gen" --root . --go-header-file "${header}" --conversion-webhook knative-samples/webhook --output "${scratch}/config" \
  --pages "${scratch}/reference" "${registered[@]}"

# Together they load the types and all that these import once, which takes most of the time of each.
step "deep copies, registration with schemes, clients and reconcilers"
mapfile -t copied < <(folders_marked k8s:deepcopy-gen pkg)
find pkg -name 'zz_generated.deepcopy.go' -delete
generator deepcopy-gen --output-file zz_generated.deepcopy.go "${copied[@]/#/${module}/}"

generator register-gen --output-file zz_generated.register.go "${registered[@]}"

# The duck types are embedded in the kinds' status. Left out here, they would be embedded as they are, and the setters
# that are made for an apply configuration's pointers would not compile.
generator applyconfiguration-gen \
  --output-pkg "${client}/applyconfiguration" --output-dir "${scratch}/applyconfiguration" \
  "${apis[@]}" knative.dev/pkg/apis/duck/v1

generator client-gen \
  --clientset-name versioned --input-base "${module}/pkg/apis" "${inputs[@]}" \
  --apply-configuration-package "${client}/applyconfiguration" --plural-exceptions "${plurals}" \
  --output-pkg "${client}/clientset" --output-dir "${scratch}/clientset"

generator lister-gen \
  --plural-exceptions "${plurals}" \
  --output-pkg "${client}/listers" --output-dir "${scratch}/listers" \
  "${apis[@]}"

generator informer-gen \
  --versioned-clientset-package "${client}/clientset/versioned" --listers-package "${client}/listers" \
  --plural-exceptions "${plurals}" \
  --output-pkg "${client}/informers" --output-dir "${scratch}/informers" \
  "${apis[@]}"

generator injection-gen \
  --input-dirs "$(IFS=,; echo "${apis[*]}${ducks[*]:+,${ducks[*]}}")" \
  --versioned-clientset-package "${client}/clientset/versioned" --listers-package "${client}/listers" \
  --external-versions-informers-package "${client}/informers/externalversions" --plural-exceptions "${plurals}" \
  --output-package "${client}/injection" --output-dir "${scratch}/injection"

"${generators}" "${together[@]}"

readonly assign_gen="${tools}/assign-gen"
if [[ -n "$(folders_marked conversion-gen: pkg)" ]]; then
  # After the deep copies, which conversions call.
  step "conversions"
  go -C conversion/cmd/assign-gen build -buildvcs=false -o "${assign_gen}"
  conversions knative . pkg
fi

if [[ -d conversion && "$*" != kinds ]]; then
  step "conversions of the fixtures"
  deep_copies conversion/fixtures .
  conversions knative conversion/fixtures .

  step "conversions for the end-to-end test"
  copy_types conversion/e2e/knative conversion/e2e/controllerruntime
  deep_copies conversion/e2e .
  conversions knative conversion/e2e knative
  conversions controller-runtime conversion/e2e controllerruntime

  # As any other project generates them.
  step "deep copies and conversions of the examples"
  example() (
    cd -- "$1"
    find . -name 'zz_generated.deepcopy.go' -delete
    go tool deepcopy-gen --go-header-file "${header}" --output-file zz_generated.deepcopy.go "${@:3}"
    go tool assign-gen --interface="$2" --go-header-file "${header}" --input-dirs "$(IFS=,; echo "${*:3}")"
  )
  example conversion/example knative ./apis/v1beta1 ./apis/v1
  example conversion/controllerruntime/example controller-runtime ./apis/v1beta1 ./apis/v1
fi

step "changes of a status in logs"
# The reconcilers describe them with go-cmp, which keeps the linker from leaving out methods that nothing calls
# (docs/adr/0011-dead-code-elimination.md). The package of apimachinery does not.
reconcilers=("${scratch}"/injection/reconciler/*/*/*/reconciler.go)
sed -i -e 's|^// Code generated by injection-gen. DO NOT EDIT.|&\n// Afterwards hack/update-codegen.sh replaces kmp.SafeDiff, for docs/adr/0011-dead-code-elimination.md.|' \
  -e 's|kmp "knative.dev/pkg/kmp"|diff "k8s.io/apimachinery/pkg/util/diff"|' \
  -e 's|diff, err := kmp.SafeDiff(\(.*\)); err == nil \&\& diff != ""|diff := diff.Diff(\1); diff != ""|' "${reconcilers[@]}"
gofmt -w "${reconcilers[@]}"

# The webhook rejects an example that does not have its checksum.
step "checksums of examples in ConfigMaps"
"${tools}/hash-gen" config/config-*.yaml

# A CRD that was written by hand stays.
{ grep -l '^# Code generated by crd-gen ' config/300-*.yaml || true; } | xargs -r rm --
rm -rf pkg/client
mv "${scratch}"/config/* config/
rmdir "${scratch}/config"
mkdir -p docs
rm -f docs/reference/api/*-fields.md
cp -R "${scratch}/reference" docs/
rm -r "${scratch}/reference"
mv "${scratch}" pkg/client
hack/update-kustomization.sh
