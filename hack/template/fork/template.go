/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import "github.com/mallard-dev/mallard/hack/template/kind"

const singleNamespace = "kustomize/overlays/single-namespace/kustomization.yaml"

// parts lists what a fork that lacks a part of the template leaves out of the files that it keeps.
var parts = []part{{
	// No fork has the template's products and the texts about all of it, nor the policies, which make kind does not write.
	names: []string{},
	remove: []string{
		"conversion/cmd/assign-gen/documents_test.go", "crud/documents_test.go", "test/repository/environments_test.go", "test/repository/language*",
		"test/repository/life_test.go", "test/repository/modules*_test.go", "test/repository/mutants_test.go",
		"kustomize/overlays/no-webhooks",
		"conversion/cmd/assign-gen/generate/problems_test.go", "conversion/cmd/assign-gen/generate/testdata", // lines break by the path of the module
		"test/repository/post_install_test.go", "test/repository/readme_test.go", "test/repository/spec_test.go",
	},
	edits: []edit{
		{".gitattributes", `(?m)^conversion/.*\n`, ""},
		{".github/dependabot.yml", `\["/",`, `["/", "/hack/tools", "/hack/tools/*",`},
		{".github/dependabot.yml", `(?ms)^  - package-ecosystem: gomod\n    directories: \["/hack/tools".*?\n\n`, ""},
		{".github/dependabot.yml", `, "/test/\*/testdata/\*"`, ""},
		{".github/dependabot.yml", `(?ms)^  # Mermaid.*?\n\n`, ""},
		{".github/workflows/nightly.yaml", `(part: \[.* repeat), .*\]`, "$1]"},
		{".github/workflows/nightly.yaml", `(?ms)^      - name: Check out the controller.*?GITHUB_ENV.*?\n`, ""},
		{".github/workflows/nightly.yaml", `The runner has Chrome, npm and a C compiler.`, "The runner has a C compiler."},
		{".golangci.yaml", `(?m)^ *- prefix\(example\.com\)\n`, ""}, // the module of an example, whose path may be a prefix of the fork's
		{".golangci.yaml", `line-length: \d+`, "line-length: 240"},  // new names may be longer
		{"Makefile", `go build -o \.cache/template \./hack/template`, "go -C hack/tools build -o ../../.cache/template " + oldModule + "/hack/template"},
		{"Makefile", `(?m)^\.PHONY: (bench|bench-peer|fuzz|mutants|website|test-versions)\n(.+\n)*\n`, ""},
		{"Makefile", `(?m)^\.PHONY: fork\n(.+\n)*`, updateTarget},
		{"hack/update-codegen.sh", `(?ms)^# copy_types .*?^}\n\n`, ""},
		{"hack/update-codegen.sh", `(?ms)\n  step "conversions for the end-to-end test".*?^fi\n`, "fi\n"},
		{"hack/nightly.sh", `(?m)^  run "data races in the .*\n`, ""},
		{"test/repository/layers_test.go", `(?ms)^\tpackages: +"(confidential|pkg/migration)".*?^}, \{\n`, ""},
	},
}, {
	names: []string{"conversion", "hardening", "localcluster"},
	edits: []edit{
		{".github/workflows/ci.yaml", `, modules\]`, "]"},
		{".github/workflows/nightly.yaml", ` modules,`, ""},
	},
}, {
	names: []string{"hardening"},
	edits: []edit{{".github/dependabot.yml", `, "/hardening"`, ""}},
}, {
	names: []string{"localcluster"},
	edits: []edit{
		{".github/dependabot.yml", `, "/localcluster/env"`, ""},
		{".github/dependabot.yml", `(?ms)^  - package-ecosystem: gomod\n    directories: \["/localcluster"\].*?\n\n`, ""},
		{".github/workflows/ci.yaml", `hashFiles\('go.mod', 'localcluster/\*\*'\)`, "hashFiles('go.sum')"},
	},
}, {
	names: []string{"conversion"},
	edits: []edit{
		{".github/dependabot.yml", `, "/conversion(/\*)*"`, ""},
		{"hack/update-codegen.sh", `(?ms)^# deep_copies .*?^\)\n\n`, ""},
		{"hack/update-codegen.sh", `(?ms)^if \[\[ -d conversion && .*?^fi\n\n`, ""},
		{"hack/update-codegen.sh", `assign-gen build .* "\$\{assign_gen\}"`, `$0 ` + oldModule + `/conversion/cmd/assign-gen`},
		{"hack/update-codegen.sh", `go -C conversion/cmd/assign-gen build`, `go -C hack/tools build`},
	},
}, {
	names: []string{"crud"},
	edits: []edit{
		{"test/repository/layers_test.go", `(?ms)^\tpackages: +"crud(/hook)?".*?^}, \{\n`, ""},
	},
}, {
	names: []string{"observe"},
	edits: []edit{
		{"test/repository/layers_test.go", `(?ms)^\tpackages: +"observe".*?^}, \{\n`, ""},
	},
}, {
	names: []string{"hooks"},
	remove: []string{
		"kustomize/overlays/hooks", "samples/600-addressableservice-hook.yaml",
	},
	edits: []edit{
		{"pkg/configuration/configuration.go", `, "hooks"`, ""},
		{"config/config-logging.yaml", `(?m)^    loglevel\.hooks.*\n`, ""},
		{"Makefile", `; OVERLAY=hooks: runs hooks`, ""},
		{"hack/test.sh", ` --config=config --config=kustomize/overlays/hooks`, ""},
		{"test/operator/operator_test.go", `, harness\.WithOverlay\("hooks"\)`, ""},
	},
}, {
	names: []string{"release"},
	edits: []edit{{"Makefile", `(?m)^\.PHONY: release\n(.+\n)*\n`, ""}},
}, {
	names:  []string{"ci"},
	remove: []string{"test/repository/ci_test.go"},
	edits: []edit{
		{".github/workflows/release.yaml", `(?ms)^  tests:\n.*?^    needs: tests\n`, "  release:\n"},
		{".github/workflows/release.yaml", ` whose commit passes all tests`, ""},
	},
}, {
	names: []string{"AddressBinding"},
	remove: []string{
		"pkg/binding", "pkg/reconciler/addressbinding", "test/addressbinding", "pkg/webhook/addressbinding*.go", "pkg/apis/samples/addressbinding.go",
		"pkg/apis/samples/v1/addressbinding_*.go", "config/*addressbinding*.yaml", "samples/*addressbinding.yaml",
	},
	edits: []edit{
		{"cmd/controller/main.go", `(?m)^.*\baddressbinding\b.*\n`, ""},
		{"cmd/webhook/main.go", `(?m)^.*NewBindingController.*\n`, ""},
		{"config/500-webhook-configuration.yaml", kind.MatchConditions("AddressBinding"), ""},
	},
}, {
	names: []string{"SimpleDeployment"},
	remove: []string{
		"pkg/reconciler/simpledeployment", "test/simpledeployment", "pkg/webhook/simpledeployment_test.go", "pkg/apis/samples/simpledeployment.go",
		"pkg/apis/samples/v1alpha1/simpledeployment_*.go", "config/*simpledeployment*.yaml", "samples/*simpledeployment.yaml",
	},
	edits: []edit{
		{"cmd/controller/main.go", `filteredfactory\.WithSelectors\((configuration\.NewContext\(\)), [\w.]+\)`, "$1"},
		{"cmd/controller/main.go", `(?m)^.*(\bsimpledeployment\b|\bfilteredfactory\b|/pkg/apis/samples").*\n`, ""},
	},
}, {
	names:  []string{"AddressBinding", "SimpleDeployment"},
	remove: []string{"pkg/apis/duck"},
}, {
	names: []string{olderVersions},
	remove: []string{
		"kustomize/overlays/all-versions",
		"pkg/apis/samples/v1beta1", "pkg/apis/samples/roundtrip", "pkg/apis/samples/*/storage", "pkg/apis/samples/conversion.lock",
		"pkg/apis/samples/v1alpha1/addressableservice_*.go", "pkg/apis/samples/*conversion*", "pkg/apis/samples/*/*conversion*",
		"pkg/webhook/*conversion*.go",
	},
	edits: []edit{
		{"pkg/apis/samples/v1/doc.go", `(?m)^.*\+conversion-gen:.*\n`, ""},
		{"pkg/apis/samples/v1alpha1/doc.go", `(?m)^.*\+conversion-gen:.*\n`, ""},
		{"pkg/apis/samples/v1alpha1/doc.go", paragraphWith("AddressableService"), ""},
		{"pkg/apis/samples/v1/addressableservice_types.go", `(?m)^.*\+conversion:.*\n`, ""},
		{"pkg/apis/samples/v1/addressableservice_types.go", `(?m)^type AddressableService struct`, "//\n// +conversion:skip\n$0"},
		{"pkg/apis/samples/v1/addressableservice_defaults.go", `(?m)^.*(conversionProperties|conversion/knative").*\n`, ""},
		{"pkg/apis/samples/v1/addressableservice_validation.go", `\.Also\(knative\.Validate.*`, ""},
		{"pkg/apis/samples/v1/addressableservice_validation.go", `(?m)^.*conversion/knative".*\n`, ""},
		{"pkg/webhook/kinds.go", `(?m)^.*samples/v1beta1"\n`, ""},
		{"pkg/webhook/kinds.go", `v1beta1\.Install, `, ""},
		{"cmd/webhook/main.go", `(?m)^.*NewConversionController.*\n`, ""},
	},
}, {
	names:  []string{olderVersions, "SimpleDeployment"},
	remove: []string{"pkg/apis/samples/v1alpha1"},
	edits: []edit{
		{"pkg/webhook/kinds.go", `(?m)^.*samples/v1alpha1"\n`, ""},
		{"pkg/webhook/kinds.go", `v1alpha1\.Install, `, ""},
	},
}, {
	names: []string{"AddressableService"},
	remove: []string{
		"pkg/reconciler/addressableservice", "test/addressableservice", "test/fixtures", "pkg/webhook/admission_test.go", "pkg/webhook/upstream_test.go",
		"pkg/apis/samples/addressableservice.go", "pkg/apis/samples/v1", "config/*addressableservice*.yaml", "samples/*addressableservice*.yaml",
		"cmd/hooks/addressableservice*.go", "pkg/apis/config/addressable*.go", "pkg/apis/config/store*.go", "pkg/apis/config/testing_test.go",
		"config/config-addressable.yaml", "kustomize/overlays/hooks/*addressableservice*.yaml",
	},
	edits: []edit{
		{"cmd/controller/main.go", `(?m)^.*\baddressableservice\b.*\n`, ""},
		{"config/500-webhook-configuration.yaml", kind.MatchConditions("AddressableService"), ""},
		{"cmd/hooks/main.go", `append\(hooks, labelsOfServices\(\)\)`, "hooks"},
		{"pkg/apis/config/doc.go", paragraphWith("Store"), ""},
		{"pkg/configuration/configuration.go", `(?m)^.*(config\.AddressableName: |/pkg/apis/config").*\n`, ""},
		{"cmd/configuration_test.go", `(?ms)^\tif name == config\.AddressableName \{\n.*?^\t\}\n`, ""},
		{"cmd/configuration_test.go", `(?m)^.*("k8s\.io/api/core/v1|/pkg/apis/config)"\n`, ""},
		{"pkg/webhook/kinds.go", `(?m)^.*samples/v1"\n`, ""},
		{"pkg/webhook/kinds.go", `, v1\.Install`, ""},
		{"pkg/webhook/controllers.go", `(?m)^.*/(logging|pkg/apis/config)"\n`, ""},
		{"pkg/webhook/controllers.go", `(?m)^(\t//.*\n)*\tstore( :=|\.).*\n`, ""},
		{"pkg/webhook/controllers.go", `store\.ToContext`, "nil"},
		{"test/repository/config_test.go", `"config-addressable", `, ""},
		{singleNamespace, `(?m)^  - target:\n      kind: Namespace\n(    .*\n)+`, ""},
		{singleNamespace, `(?m)^      - select:\n          kind: (Role|RoleBinding)\n          name: mallard-directory\n.*\n`, ""},
		{singleNamespace, `(?m)^      - select:\n.*\n          name: config-addressable\n.*\n.*\n.*\n`, ""},
		{singleNamespace, ` Aliases are\n# Services of that namespace too, so there is no directory apart.`, ""},
		{singleNamespace, `, whether the directory exists`, ""},
		{"pkg/webhook/controllers.go", `(NewDefaultingController\(ctx context\.Context,) cmw`, "$1 _"},
	},
}}
