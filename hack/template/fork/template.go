/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

// parts lists every part of the template that a fork may leave out.
var parts = []part{{
	// A fork is made of the template only.
	names: []string{},
	remove: []string{
		"hack/template/fork", "test/fork", "docs/how-to/fork.md", "hack/test-fork.sh", "hack/mutants*", "test/repository/mutants_test.go",
		"test/repository/language*",
	},
	edits: []edit{
		{"CONTRIBUTING.md", `(?m)^\| .make fork. .*\n`, ""},
		{".github/workflows/nightly.yaml", `mutants, (.*), forks\]`, "$1]"},
		{"hack/nightly.sh", `mutants (.*) forks'`, "$1'"},
		{"hack/nightly.sh", `(?m)^mutants\(\).*\n\n`, ""},
		{"hack/nightly.sh", `(?ms)\nforks\(\).*?^}\n`, ""},
		{"CONTRIBUTING.md", `(?m)^\| .make mutants.*\n`, ""},
		{"Makefile", `(?m)^\.PHONY: mutants\n(.+\n)*\n`, ""},
		{".golangci.yaml", `line-length: \d+`, "line-length: 240"}, // new names may be longer
		{"README.md", `(?m)^\| \*\*fork\*\* it \|`, "| **change** it |"},
		{"docs/README.md", `(?m)^\| \[Fork\]\(how-to/fork\.md\).*\n`, ""},
		{"CONTRIBUTING.md", `(?m)^\| .fork. \|.*\n`, ""},
		{"CONTRIBUTING.md", `\[the glossary\]\(test/repository/language/rules\.yaml\), which .make verify. checks`, "the pages"},
		{"README.md", "(?ms)^Make it yours:.*?^```\\n\\n", ""},
		{"docs/explanation/learned-from-others.md", `(?m)^.*\b(TestParse_Invalid_IsRejected|TestFork_AllKinds_IsComplete)\b.*\n`, ""},
		{"Makefile", `(?m)^\.PHONY: fork\n(.+\n)*\n`, ""},
		{"hack/template/main.go", `(?m)^.*/hack/template/fork"\n`, ""},
		{"hack/template/main.go", `(?m)^\t"fork":.*\n`, ""},
	},
}, {
	names:  []string{"conversion"},
	remove: []string{"conversion"},
}, {
	names:  []string{"hardening"},
	remove: []string{"hardening"},
}, {
	names:  []string{"localcluster"},
	remove: []string{"localcluster", "hack/update-versions.sh", "hack/test-versions.sh"},
	edits: []edit{
		{"Makefile", `(?m)^\.PHONY: test-versions\n(.+\n)*\n`, ""},
		{"hack/nightly.sh", ` versions'`, "'"},
		{"hack/nightly.sh", `(?m)^versions\(\).*\n`, ""},
	},
}, {
	names:  []string{"crud"},
	remove: []string{"crud", "cmd/crud"},
	edits: []edit{
		{"test/repository/layers_test.go", `(?ms)^\tpackages: +"crud(/hook)?".*?^}, \{\n`, ""},
	},
}, {
	names: []string{"hooks"},
	remove: []string{
		"cmd/hooks", "config/hooks.yaml", "config/200-hooks.yaml", "config/200-addressableservice-hooks.yaml",
		"samples/600-addressableservice-hook.yaml",
	},
	edits: []edit{
		{"pkg/apis/config/parsers.go", `, "hooks"`, ""},
		{"config/config-logging.yaml", `(?m)^    loglevel\.hooks.*\n`, ""},
	},
}, {
	names:  []string{"migrate"},
	remove: []string{"cmd/migrate", "pkg/migration", "post-install"},
	edits: []edit{
		{"test/repository/layers_test.go", `(?ms)^\tpackages: +"pkg/migration".*?^}, \{\n`, ""},
	},
}, {
	names:  []string{"observer"},
	remove: []string{"cmd/observer", "optional"},
}, {
	names:  []string{"crud", "observer"},
	remove: []string{"confidential", "observe"},
	edits: []edit{
		{"test/repository/layers_test.go", `(?ms)^\tpackages: +"(confidential|observe)".*?^}, \{\n`, ""},
	},
}, {
	// Texts and settings that describe all of the template, and suites that test it.
	names: []string{anything},
	remove: []string{
		"docs", "website", "monitoring", "kustomize", ".github", "*.md",
		"crud/documents_test.go", "conversion/cmd/assign-gen/documents_test.go", "hack/release.sh", "hack/website.sh", "hack/tools/ko/*.go",
		"test/doc.go", "test/repository/environments_test.go",
		"test/addressbinding", "test/admission", "test/availability", "test/checkout", "test/config", "test/conversion", "test/costs", "test/crud", "test/docs",
		"test/events", "test/faults", "test/generated", "test/hardening", "test/harness", "test/hooks", "test/install", "test/kind", "test/kubectl",
		"test/fixtures", "test/migration", "test/moduleproxy", "test/monitoring", "test/observe", "test/operations", "test/permissions", "test/plain",
		"test/pods", "test/process", "test/reconciler", "test/run", "test/simpledeployment", "test/tenants",
		"test/repository/ci_test.go", "test/repository/life_test.go", "test/repository/modules*_test.go",
		"test/repository/post_install_test.go", "test/repository/readme_test.go", "test/repository/spec_test.go",
	},
	edits: []edit{
		{"Makefile", `(?m)^\.PHONY: release\n(.+\n)*\n`, ""},
		{"Makefile", `(?m)^\.PHONY: website\n(.+\n)*\n`, ""},
	},
}, {
	names: []string{"AddressBinding"},
	remove: []string{
		"pkg/binding", "pkg/reconciler/addressbinding", "pkg/webhook/addressbinding*.go", "pkg/apis/samples/addressbinding.go",
		"pkg/apis/samples/v1/addressbinding_*.go", "config/*addressbinding*.yaml", "samples/*addressbinding.yaml",
	},
	edits: []edit{
		{"cmd/controller/main.go", `(?m)^.*\baddressbinding\b.*\n`, ""},
		{"cmd/webhook/main.go", `(?m)^.*NewBindingController.*\n`, ""},
		{"cmd/webhook/main.go", `, [^,.\n]*\bAddressBindings\b`, ""},
		{"config/500-webhook-configuration.yaml", conditionOf("addressbinding"), ""},
	},
}, {
	names: []string{"SimpleDeployment"},
	remove: []string{
		"pkg/reconciler/simpledeployment", "pkg/webhook/simpledeployment_test.go", "pkg/apis/samples/simpledeployment.go",
		"pkg/apis/samples/v1alpha1/simpledeployment_*.go", "config/*simpledeployment*.yaml", "samples/*simpledeployment.yaml",
	},
	edits: []edit{
		{"cmd/controller/main.go", `filteredfactory\.WithSelectors\((signals\.NewContext\(\)), [\w.]+\)`, "$1"},
		{"cmd/controller/main.go", `(?m)^.*(\bsimpledeployment\b|\bfilteredfactory\b|/pkg/apis/samples").*\n`, ""},
	},
}, {
	names:  []string{"AddressBinding", "SimpleDeployment"},
	remove: []string{"pkg/apis/duck"},
}, {
	names: []string{olderVersions},
	remove: []string{
		"pkg/apis/samples/v1beta1", "pkg/apis/samples/roundtrip", "pkg/apis/samples/*/storage", "pkg/apis/samples/conversion.lock",
		"pkg/apis/samples/v1alpha1/addressableservice_*.go", "pkg/apis/samples/*conversion*", "pkg/apis/samples/*/*conversion*",
		"pkg/webhook/*conversion*.go",
	},
	edits: []edit{
		{"pkg/apis/samples/v1/doc.go", `(?m)^.*\+conversion-gen:.*\n`, ""},
		{"pkg/apis/samples/v1alpha1/doc.go", `(?m)^.*\+conversion-gen:.*\n`, ""},
		{"pkg/apis/samples/v1alpha1/doc.go", paragraphWith("AddressableService"), ""},
		{"pkg/apis/samples/v1/addressableservice_types.go", `(?m)^.*\+conversion:.*\n`, ""},
		{"pkg/apis/samples/v1/addressbinding_types.go", `(?m)^.*\+conversion:.*\n`, ""},
		{"pkg/apis/samples/v1alpha1/simpledeployment_types.go", `(?m)^.*\+conversion:.*\n`, ""},
		{"pkg/apis/samples/v1/addressableservice_defaults.go", `(?m)^.*(conversionProperties|conversion/knative").*\n`, ""},
		{"pkg/apis/samples/v1/addressableservice_validation.go", `\.Also\(knative\.Validate.*`, ""},
		{"pkg/apis/samples/v1/addressableservice_validation.go", `(?m)^.*conversion/knative".*\n`, ""},
		{"pkg/webhook/kinds.go", `(?m)^.*samples/v1beta1"\n`, ""},
		{"pkg/webhook/kinds.go", `v1beta1\.Install, `, ""},
		{"pkg/webhook/controllers.go", `v1\.WithVersions\(served\)`, "nil"},
		{"pkg/webhook/controllers.go", `(?m)^.*samples/v1"\n`, ""},
		{"cmd/webhook/main.go", `(?m)^.*NewConversionController.*\n`, ""},
		{"hack/update-codegen.sh", ` --conversion-webhook \S+`, ""},
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
		"pkg/reconciler/addressableservice", "test/addressableservice", "pkg/webhook/admission_test.go", "pkg/webhook/upstream_test.go",
		"pkg/apis/samples/addressableservice.go", "pkg/apis/samples/v1", "config/*addressableservice*.yaml", "samples/*addressableservice*.yaml",
		"cmd/hooks/addressableservice*.go", "pkg/apis/config/addressable*.go", "pkg/apis/config/store*.go", "pkg/apis/config/testing_test.go",
		"config/config-addressable.yaml",
	},
	edits: []edit{
		{"cmd/controller/main.go", `(?m)^.*\baddressableservice\b.*\n`, ""},
		{"config/500-webhook-configuration.yaml", conditionOf("addressableservice"), ""},
		{"cmd/hooks/main.go", `(?m)^.*\blabelsOfServices\b.*\n`, ""},
		{"pkg/apis/config/doc.go", paragraphWith("Store"), ""},
		{"pkg/apis/config/parsers.go", `AddressableName: NewAddressableFromConfigMap`, ""},
		{"pkg/webhook/kinds.go", `(?m)^.*samples/v1"\n`, ""},
		{"pkg/webhook/kinds.go", `, v1\.Install`, ""},
		{"pkg/webhook/controllers.go", `(?m)^.*/logging"\n`, ""},
		{"pkg/webhook/controllers.go", `(?m)^(\t//.*\n)*\tstore( :=|\.).*\n`, ""},
		{"pkg/webhook/controllers.go", `store\.ToContext`, "nil"},
		{"test/repository/config_test.go", `"config-addressable", `, ""},
		{"pkg/webhook/controllers.go", `(NewDefaultingController\(ctx context\.Context,) cmw`, "$1 _"},
	},
}}
