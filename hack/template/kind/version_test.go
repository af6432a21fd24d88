/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kind

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestAddVersion_OptionIsInvalid_ExplainsIt(t *testing.T) {
	p := newLily(t)
	for name, tc := range map[string]struct{ kind, version, want string }{
		"no kind":           {"", "v2", "KIND=: cmd/controller/main.go does not construct a reconciler of this kind"},
		"unknown kind":      {"Rose", "v2", "KIND=Rose: cmd/controller/main.go does not construct a reconciler of this kind"},
		"other letters":     {"LILY", "v2", "KIND=LILY: no version of pkg/apis/kestrel declares this type"},
		"one of two":        {"Lily,Rose", "v2", "KIND=Rose: "},
		"no version":        {"Lily", "", "VERSION=: must be the name of a version, such as v1beta1 or v2"},
		"name of a version": {"Lily", "2", "VERSION=2: must be the name of a version"},
		"present version":   {"Lily", "v1", "VERSION=v1: Lily has this version"},
		"less stable":       {"Lily", "v2beta1", "VERSION=v2beta1: must be more stable than v1"},
	} {
		t.Run(name, func(t *testing.T) {
			contents, err := p.addVersion(Options{Kind: tc.kind, Version: tc.version}, p.files(t))
			if err == nil || !strings.Contains(err.Error(), tc.want) || contents != nil {
				t.Errorf("the error is %v, want %q; %d files change", err, tc.want, len(contents))
			}
		})
	}
}

func TestAddVersion_KindOfMakeKind_MovesItsHub(t *testing.T) {
	for _, options := range [][]string{{}, {"OWNS=apps/v1.Deployment"}, {"OWNS=external"}, {"SCOPE=Cluster"}} {
		p, sample := newLily(t, options...), "samples/100-lily.yaml"
		suite := []string{"harness.As[v2.Lily]", "{apiVersion: kestrel.example.net/v2, kind: Lily,"}
		if slices.Contains(options, "OWNS=external") {
			sample, suite = "test/lily/sample.yaml", suite[:1] // which applies the sample
		}
		contents, err := p.addVersion(Options{Kind: "Lily", Version: "v2"}, p.files(t))
		if err != nil {
			t.Fatal(err)
		}
		for path, content := range contents {
			if content != "" {
				checkFile(t, path, content)
			}
		}
		expectMoved(t, contents, "lily_lifecycle.go", "lily_lifecycle_test.go")
		for path, tc := range map[string]struct{ has, lacks []string }{
			older + "lily_types.go": {
				[]string{"package v1\n", "type Lily struct", "(*Lily)(nil)\n", "+kubebuilder:resource:path=lilies,"},
				[]string{"genclient", "genreconciler", "storageversion", "kmeta", "KRShaped", "conversion:skip"},
			},
			hub + "lily_types.go":                    {[]string{"package v2\n", "+genclient\n", "+kubebuilder:storageversion\n", "KRShaped"}, []string{"conversion:skip"}},
			older + "lily_admission.go":              {[]string{"package v1\n", "knative.Preserve(ctx, conversionProperties, o)", "knative.Validate("}, []string{"ConvertTo"}},
			hub + "lily_admission.go":                {[]string{"package v2\n", "knative.Preserve(ctx, conversionProperties, o)", "knative.Validate("}, nil},
			"pkg/reconciler/lily/lily.go":            {[]string{`	v2 "example.net/kestrel/v2/pkg/apis/kestrel/v2"`, "o *v2.Lily"}, []string{"v1.", "/v1/lily"}},
			"pkg/reconciler/lily/controller_test.go": {[]string{"KestrelV2().Lilies(", "/kestrel/v2/lily/fake\""}, []string{"KestrelV1()"}},
			sample:                                   {[]string{"apiVersion: kestrel.example.net/v2\n"}, nil},
			"test/lily/lily_test.go":                 {suite, []string{"kestrel.example.net/v1"}},
			"pkg/webhook/kinds.go":                   {[]string{"kestrel/v1\"\n	v2 \"", "(v1.Install, v2.Install)"}, nil},
			"cmd/webhook/main.go":                    {[]string{"NewValidationController,\n\twebhook.NewConversionController,\n"}, nil},
			"config/200-lily-roles.yaml":             {[]string{"\n---\n", `resourceNames: ["lilies.kestrel.example.net"]`}, nil},
			"post-install/100-migrate-account.yaml":  {[]string{`["lilies", "nests"]`, `["lilies.kestrel.example.net", "nests.`}, nil},
			"post-install/200-migrate.yaml":          {[]string{"value: lilies.kestrel.example.net,nests."}, nil},
		} {
			expectTexts(t, path, contents[path], tc.has, tc.lacks)
		}
	}
}

func TestAddVersion_KindWithWebhooks_KeepsItsRules(t *testing.T) {
	p := newLily(t)
	p.addWebhooks(t)
	contents, err := p.addVersion(Options{Kind: "Lily", Version: "v2"}, p.files(t))
	if err != nil {
		t.Fatal(err)
	}
	expectMoved(t, contents, "lily_validation.go", "lily_validation_test.go")
	for path, tc := range map[string]struct{ has, lacks []string }{
		older + "lily_defaults.go":  {[]string{"package v1\n", "\tknative.Preserve(ctx, conversionProperties, ab)\n"}, nil},
		hub + "lily_defaults.go":    {[]string{"package v2\n", "\n\n\t\"example.net/conversion/knative\"\n)\n", "\tknative.Preserve("}, nil},
		hub + "lily_validation.go":  {[]string{"knative.Validate(ctx, conversionProperties, ab).Also(ab.ValidateRules(ctx))", ") ValidateRules(ctx context.Context) (errs"}, nil},
		older + "lily_admission.go": {[]string{"package v1\n", "hub := &v2.Lily{}", "hub.ValidateRules(ctx)"}, []string{"SetDefaults"}},
	} {
		checkFile(t, path, contents[path])
		expectTexts(t, path, contents[path], tc.has, tc.lacks)
	}
	if _, ok := contents[hub+"lily_admission.go"]; ok {
		t.Error("the hub has two methods for admission")
	}
}

// addWebhooks gives Lily the defaults and the rules of AddressBinding.
func (p *project) addWebhooks(t *testing.T) {
	t.Helper()
	for _, file := range []string{"_defaults.go", "_defaults_test.go", "_validation.go", "_validation_test.go"} {
		source, err := thisProject(t).read("pkg/apis/samples/v1/addressbinding" + file)
		if err == nil {
			err = p.write("pkg/apis/kestrel/v1/lily"+file, strings.ReplaceAll(source, "AddressBinding", "Lily"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	p.commit(t)
}

// Folders of the versions.
const older, hub = "pkg/apis/kestrel/v1/", "pkg/apis/kestrel/v2/"

func expectMoved(t *testing.T, contents map[string]string, files ...string) {
	t.Helper()
	for _, file := range files {
		if content, ok := contents[older+file]; !ok || content != "" || contents[hub+file] == "" {
			t.Errorf("%s is not moved to v2: %q", older+file, content)
		}
	}
}

func expectTexts(t *testing.T, path, content string, has, lacks []string) {
	t.Helper()
	for _, text := range has {
		if !strings.Contains(content, text) {
			t.Errorf("%s lacks %q:\n%s", path, text, content)
		}
	}
	for _, text := range lacks {
		if strings.Contains(content, text) {
			t.Errorf("%s has %q:\n%s", path, text, content)
		}
	}
}

// The markers, by version, with which a version leads to the next.
func TestAddVersion_VersionsOfConversions_AreOneChain(t *testing.T) {
	next := func(v string) string { return "+conversion-gen:next=example.net/kestrel/v2/pkg/apis/kestrel/" + v }
	const hub, annotation = "+conversion-gen:hub", "+conversion-gen:annotation=conversion.kestrel.example.net/"
	for name, tc := range map[string]struct {
		before map[string][]string
		added  string
		want   map[string][]string
		skip   string
	}{
		"no conversions":    {nil, "v2", map[string][]string{"v1": {next("v2")}, "v2": {hub, annotation + "properties"}}, ""},
		"the hub":           {map[string][]string{"v1": {hub, annotation + "a"}}, "v2", map[string][]string{"v1": {next("v2")}, "v2": {hub, annotation + "a"}}, ""},
		"an older version":  {map[string][]string{"v1beta1": {hub, annotation + "a"}}, "v2", map[string][]string{"v1beta1": {next("v1")}, "v1": {next("v2")}, "v2": {hub, annotation + "a"}}, "v1beta1"},
		"joins another":     {map[string][]string{"v2": {hub, annotation + "a"}}, "v2", map[string][]string{"v1": {next("v2")}, "v2": {hub, annotation + "a"}}, ""},
		"a version between": {map[string][]string{"v2": {next("v3")}, "v3": {hub, annotation + "a"}}, "v3", map[string][]string{"v1": {next("v2")}, "v2": {next("v3")}, "v3": {hub, annotation + "a"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newLily(t)
			for v, markers := range tc.before {
				if err := p.write(p.folder(v)+"doc.go", "\n// "+strings.Join(markers, "\n// ")+"\npackage "+v+"\n"); err != nil {
					t.Fatal(err)
				}
			}
			contents, err := p.addVersion(Options{Kind: "Lily", Version: tc.added}, p.files(t))
			if err != nil {
				t.Fatal(err)
			}
			for v, markers := range tc.want {
				doc, err := p.edited(contents, p.folder(v)+"doc.go")
				if err != nil {
					t.Fatal(err)
				}
				if want := "// " + strings.Join(markers, "\n// ") + "\npackage " + v + "\n"; !strings.HasSuffix(doc, want) || strings.Count(doc, "+conversion-gen:") != len(markers) {
					t.Errorf("%s ends otherwise than with %q:\n%s", v, want, doc)
				}
				if types, ok := contents[p.folder(v)+"lily_types.go"]; ok == (v == tc.skip) || ok && tc.skip != "" != strings.Contains(types, "+conversion:skip="+tc.skip+"\n") {
					t.Errorf("the types of %s are:\n%s", v, types)
				}
			}
		})
	}
}

// After a version was added, the next one is added to the new hub, and the oldest version is validated by it.
func TestAddVersion_SecondTime_MovesTheHubAgain(t *testing.T) {
	const marker = "\t// +conversion:older=augment\n"
	p := newLily(t)
	p.addWebhooks(t)
	p.add(t, "KIND=Rose")
	p.commit(t)
	for _, version := range []string{"v2", "v3"} {
		contents, err := p.addVersion(Options{Kind: "Lily,Rose", Version: version}, p.files(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.writeAll(contents, &bytes.Buffer{}); err != nil {
			t.Fatal(err)
		}
		p.commit(t)
		if p, err = readProject(p.root); err != nil {
			t.Fatal(err)
		}
		types := strings.Replace(contents["pkg/apis/kestrel/"+version+"/lily_types.go"], "\tMessage string", marker+"\tMessage string", 1)
		if err := p.write("pkg/apis/kestrel/"+version+"/lily_types.go", types); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"v2/lily_types.go": marker, "v3/lily_types.go": marker, // the one that was written after the version was added
		"v1/lily_admission.go": "hub := &v3.Lily{}", "v2/lily_admission.go": "hub := &v3.Lily{}", "v3/lily_validation.go": ") ValidateRules(", "v3/lily_lifecycle.go": "package v3\n",
		"v1/rose_admission.go": "knative.Validate(", "v2/rose_admission.go": "knative.Validate(", "v3/rose_admission.go": "package v3\n", "v3/rose_lifecycle.go": "package v3\n",
	} {
		if content, err := p.read("pkg/apis/kestrel/" + path); err != nil || strings.Count(content, want) != 1 {
			t.Errorf("%s (%v) has not %q once:\n%s", path, err, want, content)
		}
	}
	left, err := p.unregister("Rose")
	if err == nil {
		err = p.writeAll(left, &bytes.Buffer{})
	}
	if err != nil {
		t.Fatal(err)
	}
	left, err = p.unregister("Lily")
	if err != nil || left["post-install/100-migrate-account.yaml"] != account || left["post-install/200-migrate.yaml"] != job {
		t.Errorf("make drop would leave the kind in the migration (%v): %q", err, left)
	}
	if files := p.filesOf("lily", p.files(t)); !slices.Contains(files, "pkg/apis/kestrel/v1/lily_types.go") || !slices.Contains(files, "pkg/apis/kestrel/v2/lily_types.go") {
		t.Errorf("make drop would leave older versions: it deletes %q", files)
	}
}

func TestAddVersion_TwoKinds_HaveTheSameHub(t *testing.T) {
	p := newLily(t)
	p.add(t, "KIND=Rose")
	contents, err := p.addVersion(Options{Kind: "Rose,Lily", Version: "v2"}, p.files(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"lily", "rose"} {
		expectTexts(t, "the reconciler", contents["pkg/reconciler/"+kind+"/"+kind+".go"], []string{"o *v2."}, []string{"o *v1."})
		expectTexts(t, "the types", contents["pkg/apis/kestrel/v2/"+kind+"_types.go"], []string{"package v2\n"}, []string{"conversion:skip"})
	}
	expectTexts(t, "the webhook", contents["pkg/webhook/kinds.go"], []string{"(v1.Install, v2.Install)"}, nil)
}

// Otherwise, the generator of conversions would end with an error, after minutes and with all of its output.
func TestAddVersion_ConvertedKindIsNotNamed_IsAnError(t *testing.T) {
	p := newLily(t)
	contents, err := p.addVersion(Options{Kind: "Lily", Version: "v2"}, p.files(t))
	if err == nil {
		err = p.writeAll(contents, &bytes.Buffer{})
	}
	if err != nil {
		t.Fatal(err)
	}
	p.add(t, "KIND=Rose", "VERSION=v1")
	p.add(t, "KIND=Tulip", "VERSION=v1")
	p.commit(t)
	if p, err = readProject(p.root); err != nil {
		t.Fatal(err)
	}
	if _, err := p.addVersion(Options{Kind: "Rose,Tulip", Version: "v2"}, p.files(t)); err != nil {
		t.Errorf("the kinds cannot join the hub of the other kind: %v", err)
	}
	_, err = p.addVersion(Options{Kind: "Rose,Tulip", Version: "v3"}, p.files(t))
	if want := "KIND=Rose,Tulip: Lily would lack version v3, at which all conversions of the API end; add the version to each: KIND=Rose,Tulip,Lily"; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %q", err, want)
	}
	if _, err := p.addVersion(Options{Kind: "Lily", Version: "v3"}, p.files(t)); err != nil {
		t.Errorf("kinds of one version need the other one: %v", err)
	}
}

// The webhook would not find the CRD.
func TestAddVersion_PluralIsNotTheGuessOfTheWebhook_IsAnError(t *testing.T) {
	p := newLily(t)
	p.add(t, "KIND=Gateway")
	if err := p.write("pkg/webhook/kinds.go", kindsOfWebhook+"\nvar plural = meta.UnsafeGuessKindToResource(gvk)\n"); err != nil {
		t.Fatal(err)
	}
	_, err := p.addVersion(Options{Kind: "Gateway", Version: "v2"}, p.files(t))
	if want := "KIND=Gateway: pkg/webhook/kinds.go takes gatewaies for the resource, which is called gateways"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want %q", err, want)
	}
	if _, err := p.addVersion(Options{Kind: "Lily", Version: "v2"}, p.files(t)); err != nil {
		t.Error(err)
	}
}

func TestAddVersion_TreeWithChanges_StaysAsItIs(t *testing.T) {
	p := newLily(t)
	if err := p.write("notes.txt", "mine"); err != nil {
		t.Fatal(err)
	}
	err := AddVersion(t.Context(), p.root, Options{Kind: "Lily", Version: "v2"}, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "notes.txt") || p.exists("pkg/apis/kestrel/v2") {
		t.Errorf("the error is %v; v2 exists: %v", err, p.exists("pkg/apis/kestrel/v2"))
	}
}

func TestAddVersion_GeneratorFails_RestoresTheTree(t *testing.T) {
	p := newLily(t)
	script := filepath.Join(p.root, "hack/update-codegen.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho generated | tee pkg/apis/kestrel/v2/zz_generated.go >go.mod\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.commit(t)
	err := AddVersion(t.Context(), p.root, Options{Kind: "Lily", Version: "v2"}, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "update-codegen.sh") {
		t.Errorf("the error is %v", err)
	}
	if changed, err := p.git(t.Context(), "status", "--porcelain"); err != nil || changed != "" {
		t.Errorf("the tree has changes (%v):\n%s", err, changed)
	}
}
