/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// validArguments returns arguments without an error, by variable.
func validArguments(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{
		"MODULE": "example.com/acme/pond", "GROUP": "pond.acme.io", "NAME": "Pond", "NAMESPACE": "pond-system", "TO": filepath.Join(t.TempDir(), "pond"),
	}
}

func parse(values map[string]string) (Arguments, error) {
	var args []string
	for variable, value := range values {
		args = append(args, variable+"="+value)
	}
	return Parse(args)
}

func TestParse_Valid_KeepsAllKinds(t *testing.T) {
	values := validArguments(t)
	values["MODULES"] = "v1.2.3"
	a, err := parse(values)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Kinds) != len(kinds()) || a.Authors != "The Pond Authors" || a.License != oldLicense {
		t.Errorf("the fork has the kinds %v of %v, the authors %s and the license %s", a.Kinds, kinds(), a.Authors, a.License)
	}
}

func TestParse_Invalid_IsRejected(t *testing.T) {
	full, within := t.TempDir(), "pond"
	// The folder of this test is not that of the template.
	checkout, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(full, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		values map[string]string
		want   []string
	}{
		"NoModule":           {map[string]string{"MODULE": ""}, []string{"MODULE=", "example.com/acme/pond"}},
		"ModuleWithSpace":    {map[string]string{"MODULE": "example.com/a b"}, []string{"MODULE=example.com/a b must be the path of a Go module"}},
		"ModuleWithoutDot":   {map[string]string{"MODULE": "pond"}, []string{"MODULE=pond", "missing dot"}},
		"ModuleOfVersion":    {map[string]string{"MODULE": "example.com/pond/v2"}, []string{"major version"}},
		"TemplatesModule":    {map[string]string{"MODULE": oldModule}, []string{"template's module"}},
		"BelowTheTemplates":  {map[string]string{"MODULE": oldModule + "/pond"}, []string{"template's module"}},
		"NoGroup":            {map[string]string{"GROUP": ""}, []string{"GROUP=", "pond.acme.io"}},
		"GroupOfOneLabel":    {map[string]string{"GROUP": "pond"}, []string{"GROUP=pond must be a DNS subdomain"}},
		"GroupInCapitals":    {map[string]string{"GROUP": "Pond.acme.io"}, []string{"GROUP=Pond.acme.io must be"}},
		"GroupWithDigit":     {map[string]string{"GROUP": "1pond.acme.io"}, []string{"starts with a letter"}},
		"GroupWithDash":      {map[string]string{"GROUP": "pond-.acme.io"}, []string{"GROUP=pond-.acme.io"}},
		"LongLabel":          {map[string]string{"GROUP": strings.Repeat("a", 64) + ".io"}, []string{"GROUP="}},
		"ReservedGroup":      {map[string]string{"GROUP": "pond.k8s.io"}, []string{"another domain"}},
		"KnativesGroup":      {map[string]string{"GROUP": oldGroup}, []string{"another domain"}},
		"NoName":             {map[string]string{"NAME": ""}, []string{"NAME=", "such as Pond"}},
		"NameWithUnderscore": {map[string]string{"NAME": "my_pond"}, []string{"NAME=my_pond must be"}},
		"NameWithDigitFirst": {map[string]string{"NAME": "2pond"}, []string{"starts with a letter"}},
		"LongName":           {map[string]string{"NAME": strings.Repeat("a", 25)}, []string{"at most 24"}},
		"TemplatesName":      {map[string]string{"NAME": "mallard"}, []string{"new name"}},
		"NoNamespace":        {map[string]string{"NAMESPACE": ""}, []string{"NAMESPACE=", "pond-system"}},
		"NamespaceWithDot":   {map[string]string{"NAMESPACE": "pond.system"}, []string{"NAMESPACE=pond.system must be a new DNS label"}},
		"LongNamespace":      {map[string]string{"NAMESPACE": strings.Repeat("a", 60)}, []string{"NAMESPACE="}},
		"TemplatesNamespace": {map[string]string{"NAMESPACE": oldNamespace}, []string{"new DNS label"}},
		"NoFolder":           {map[string]string{"TO": ""}, []string{"TO is not set"}},
		"FullFolder":         {map[string]string{"TO": full}, []string{"TO=" + full, "it has file"}},
		"File":               {map[string]string{"TO": filepath.Join(full, "file")}, []string{"empty or does not exist"}},
		"InTheCheckout":      {map[string]string{"TO": within}, []string{"outside of the template's checkout"}},
		"UnknownKind":        {map[string]string{"KINDS": "AddressableService,Widget"}, []string{`KINDS: unknown value "Widget"; valid are AddressableService, `}},
		"BindingAlone":       {map[string]string{"KINDS": "AddressBinding,SimpleDeployment"}, []string{"KINDS with AddressBinding must contain AddressableService too"}},
		"KindTwice":          {map[string]string{"KINDS": "AddressableService,AddressableService"}, []string{"named twice"}},
		"UnknownVersion":     {map[string]string{"VERSIONS": "v2"}, []string{`VERSIONS: unknown value "v2"; valid are v1`}},
		"UnknownProduct":     {map[string]string{"WITHOUT": "tests"}, []string{`WITHOUT: unknown value "tests"; valid are ci, release, `}},
		"UnknownModule":      {map[string]string{"EJECT": "observer"}, []string{`EJECT: unknown value "observer"; valid are conversion, `}},
		"NoModules":          {map[string]string{"MODULES": full}, []string{"MODULES=" + full + " must be a version such as v1.2.3, or a checkout"}},
		"AuthorsWithQuote":   {map[string]string{"AUTHORS": `The "Pond" Authors`}, []string{"AUTHORS=", "such as Acme Inc"}},
		"LicenseWithSpace":   {map[string]string{"LICENSE": "the usual"}, []string{"LICENSE=the usual must be an SPDX identifier"}},
		"UnknownVariable":    {map[string]string{"KIND": "Widget"}, []string{`KIND=Widget: there is no such variable; there are MODULE, `}},
		"SeveralErrors":      {map[string]string{"NAME": "", "GROUP": "pond"}, []string{"NAME=", "GROUP=pond"}},
	} {
		t.Run(name, func(t *testing.T) {
			values := validArguments(t)
			values["MODULES"] = checkout
			folder := filepath.Dir(values["TO"])
			maps.Copy(values, tc.values)
			var args []string
			for variable, value := range values {
				args = append(args, variable+"="+value)
			}
			err := Run(t.Context(), args)
			if err == nil {
				t.Fatal("it is accepted")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error is %q, without %q", err, want)
				}
			}
			entries, err := os.ReadDir(folder)
			if err != nil || len(entries) > 0 {
				t.Errorf("the folder has the files %v (%v), want none", entries, err)
			}
		})
	}
}

func TestWithRemedy_FailedDownload_NamesIt(t *testing.T) {
	failed := errors.New("reading " + oldModule + "/localcluster/go.mod: 404 Not Found")
	downloads := Arguments{Modules: "v1.2.3"}
	if err := downloads.withRemedy(failed); !errors.Is(err, failed) || !strings.Contains(err.Error(), "GOPRIVATE="+oldModule) {
		t.Errorf("the error is %q, without GOPRIVATE or its cause", err)
	}
	if err := (Arguments{Modules: "/template"}).withRemedy(failed); err != failed { //nolint:errorlint // it is not wrapped
		t.Errorf("a fork that downloads no module fails with %q", err)
	}
	interrupted := errors.New("interrupted in make")
	if err := downloads.withRemedy(interrupted); err != interrupted { //nolint:errorlint // it is not wrapped
		t.Errorf("an interrupted fork fails with %q", err)
	}
}
