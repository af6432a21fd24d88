#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Reduces a copy of this repository, which is the working directory and which git knows, to the operator of one kind: the
# AddressableService at v1. VERSION is the version of the modules conversion and localcluster/env that it then requires.

set -o errexit -o nounset -o pipefail

readonly version="$1"

# edit FILE EXPRESSION... edits a file by sed and fails if that changes nothing.
edit() {
  local -r file="$1"
  shift
  cp -- "${file}" "${file}.before"
  sed -i -E "${@/#/-e}" "${file}"
  if cmp -s -- "${file}" "${file}.before"; then
    echo "reduce: nothing to edit in ${file}: $*" >&2
    exit 1
  fi
  rm -- "${file}.before"
}

# Products: the modules come from the module proxy; the migration serves kinds of several versions; no reconciler uses crud or hooks.
rm -r conversion crud localcluster cmd/{crud,hooks,migrate} runtime/hooks config/*hooks.yaml pkg/migration pkg/observer post-install samples/*hook.yaml
edit pkg/apis/config/store.go 's/, "hooks"//'
edit test/repository/layers_test.go '/packages: +"(pkg\/migration|crud(\/hook)?)"/,/\}, \{/d'
# Texts and settings that concern Mallard, and suites that show what a fork does not change.
rm -r cmd/documents_test.go docs monitoring kustomize .github ./*.md hack/{release,test-versions,update-versions}.sh hack/tools/ko/*.go
find test -mindepth 1 -maxdepth 1 -type d -regextype egrep ! -regex 'test/(addressableservice|crds|fixtures|randschema|reconcilertest|repository)' -exec rm -r {} +
rm test/repository/{ci,life,modules,post_install,readme,spec}_test.go

# The other kinds, and the duck type of one.
find . -depth -not -path './.git/*' -iregex '.*/[^/]*\(addressbinding\|simpledeployment\)[^/]*' -exec rm -r {} +
rm -r pkg/binding pkg/apis/duck
edit cmd/controller/main.go '/\/(addressbinding|simpledeployment)"/d' '/(addressbinding|simpledeployment)\.NewController/d'
edit cmd/webhook/main.go '/NewBindingController/d'
edit pkg/webhook/controllers.go '/pkg\/binding"/d' 's/, binding.WebhookName//'

# The other versions.
rm -r pkg/apis/samples/{v1alpha1,v1beta1,roundtrip,v1/storage} pkg/apis/samples/conversion.lock
find pkg/apis pkg/webhook -name '*conversion*' -delete
edit pkg/apis/samples/v1/doc.go '/conversion-gen/d'
edit pkg/apis/samples/v1/addressableservice_types.go '/\+conversion:/d'
edit pkg/apis/samples/v1/addressableservice_defaults.go '/knative\.IsConverting/,/}/d' '/conversionProperties/d' '/conversion\/knative"/d'
edit pkg/apis/samples/v1/addressableservice_validation.go 's/\.Also\(knative\.Validate.*//' '/conversion\/knative"/d'
edit pkg/webhook/kinds.go '/samples\/v1(alpha|beta)1"/d' 's/v1alpha1.Install, v1beta1.Install, //'
edit pkg/webhook/controllers.go '/convertedCRDs/d' 's/withOlderVersions/nil/'
edit cmd/webhook/main.go '/NewConversionController/d'
edit hack/update-codegen.sh 's/ --conversion-webhook [^ ]+//'

go mod edit -dropreplace=github.com/mallard-dev/mallard/conversion -dropreplace=github.com/mallard-dev/mallard/localcluster/env \
  -dropreplace=github.com/mallard-dev/mallard/conversion/knative -droprequire=github.com/mallard-dev/mallard/conversion/knative \
  -require="github.com/mallard-dev/mallard/conversion@${version}" -require="github.com/mallard-dev/mallard/localcluster/env@${version}"
go -C hack/tools/ko mod tidy
gofmt -w cmd pkg
