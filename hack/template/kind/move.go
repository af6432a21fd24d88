/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kind

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	packageClause = regexp.MustCompile(`(?m)^package v\w+?(_test)?$`)
	// olderMarkers are about differences from the version before, which the added version does not have.
	olderMarkers = regexp.MustCompile(`(?m)^\t// \+conversion:older\b.*\n`)
	// hubLines are those of types that are stored and reconciled.
	hubLines = regexp.MustCompile(`(?m)^(// \+(genclient|genreconciler|kubebuilder:storageversion)\b.*|\t_ (kmeta\.OwnerRefable|duckv1\.KRShaped) .*)\n`)
)

// Expressions of methods, from the beginning of the file, and replacements that import package knative.
const (
	setDefaults = `(?s)^(.*?)\n\)(.*?\nfunc \((\w+) \*\w+\) SetDefaults\((\w+) context\.Context\) \{\n)`
	preserving  = "$1\n\n\t\"knative\"\n)$2\tknative.Preserve($4, conversionProperties, $3)\n"
	validate    = `(?s)^(.*?)\n\)(.*?\nfunc \((\w+) (\*\w+)\) Validate\((\w+) context\.Context\) (\(\w+ \*apis\.FieldError\)|\*apis\.FieldError) \{\n)`
	ruled       = "$1\n\n\t\"knative\"\n)$2\treturn knative.Validate($5, conversionProperties, $3).Also($3.ValidateRules($5))\n}\n\n" +
		"// ValidateRules validates the object without the annotation of conversions. Older versions call it after their conversion.\n" +
		"func ($3 $4) ValidateRules($5 context.Context) $6 {\n"
)

// refer has the files of a kind outside the former hub refer to the added version.
func (a *addition) refer(m *model, from string, files []string) error {
	paths := regexp.MustCompile(`(\bpkg/(?:apis|client/[\w/]+)/` + a.API + `/|\b` + regexp.QuoteMeta(a.Group) + `/)` + from + `\b`)
	names := regexp.MustCompile(`(?m)(^\t|[^\w./"-])` + from + `( "|\.[A-Z])`)
	title := func(v string) string { return strings.ToUpper(v[:1]) + v[1:] + "()." + m.Kinds() + "(" }
	for _, file := range a.filesOf(m.Lower(), files) {
		if strings.HasPrefix(file, a.folder(from)) {
			continue
		}
		source, err := a.edited(a.contents, file)
		if err != nil {
			return err
		}
		source = paths.ReplaceAllString(source, "${1}"+a.version)
		if strings.HasSuffix(file, ".go") {
			source = strings.ReplaceAll(names.ReplaceAllString(source, "${1}"+a.version+"$2"), title(from), title(a.version))
		}
		a.contents[file] = source
	}
	return nil
}

// move makes the files of a kind in the former hub those of the added version. Types and defaults also stay, for the former hub and for the versions
// between the two, whose validation is that of the hub.
func (a *addition) move(m *model, from string, files []string) error {
	first, skip := slices.Index(a.chain, from), ""
	if first > 0 {
		skip = strings.TrimSuffix(skipMarker, "\n") + "=" + strings.Join(a.chain[:first], ",") + "\n"
	}
	add := func(of, concern, content string) {
		a.contents[a.folder(of)+m.Lower()+"_"+concern] = packageClause.ReplaceAllString(content, "package "+of+"$1")
	}
	for _, file := range files {
		concern, ok := strings.CutPrefix(file, a.folder(from)+m.Lower()+"_")
		if !ok {
			continue
		}
		source, err := a.read(file)
		if err != nil {
			return err
		}
		a.contents[file] = ""
		older := source
		switch concern {
		case "types.go":
			source = strings.Replace(source, skipMarker, skip, 1)
			older = hubLines.ReplaceAllString(source, "")
			source = olderMarkers.ReplaceAllString(source, "")
			if !strings.Contains(older, " kmeta.") {
				older = strings.Replace(older, "\t\"knative.dev/pkg/kmeta\"\n", "", 1)
			}
		case "defaults.go":
			m.Defaulted = true
			source, err = edit(source, m.Knative, setDefaults, strings.Replace(preserving, "knative", m.Knative, 1))
			older = source
		case "validation.go":
			m.Ruled, older = true, ""
			source, err = edit(source, m.Knative, validate, strings.Replace(ruled, "knative", m.Knative, 1))
		case "defaults_test.go":
		default:
			older = ""
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		add(a.version, concern, source)
		for _, v := range a.chain[first : len(a.chain)-1] {
			if older != "" {
				add(v, concern, older)
			}
		}
	}
	for _, v := range a.chain[first:] {
		m.Version, m.Older = v, v != a.version
		if !m.Older && m.Defaulted && m.Ruled {
			continue
		}
		admission, err := m.render("version/admission.go")
		if err != nil {
			return err
		}
		add(v, "admission.go", admission)
	}
	return nil
}

// serve has the webhook serve the added version and convert the kind, and the migration cover its objects, if the operator has one.
func (a *addition) serve(m *model, from string) error {
	const kinds, account = "pkg/webhook/kinds.go", "post-install/100-migrate-account.yaml"
	guess := guessOf(m.Kind)
	if _, err := a.find(kinds, `(UnsafeGuessKindToResource)`); err == nil && guess != m.Plural() {
		return fmt.Errorf("%s takes %s for the resource, which is called %s; replace the guess there", kinds, guess, m.Plural())
	}
	role, err := m.render("files/webhook-role.yaml")
	if err != nil {
		return err
	}
	plural, crd, group := strconv.Quote(m.Plural()), m.Plural()+"."+a.Group, regexp.QuoteMeta(a.Group)
	for _, e := range []struct{ file, has, expression, replacement string }{
		{kinds, a.importPath(a.version) + `"`, `(?m)^\t.*"` + regexp.QuoteMeta(a.importPath(from)) + `"\n`, "$0\t" + a.ImportOf(a.version) + "\n"},
		{kinds, a.version + ".Install", `(NewSchemeBuilder\([^)]*)\)`, "$1, " + a.version + ".Install)"},
		{"cmd/webhook/main.go", "webhook.NewConversionController", `(?m)^(\t+)webhook\.NewValidationController,\n`, "$0${1}webhook.NewConversionController,\n"},
		{"config/200-" + m.Lower() + "-roles.yaml", "customresourcedefinitions", `\n$`, "\n---\n" + role},
		{account, plural, `(apiGroups: \["` + group + `"\]\n +resources: \[)`, "${1}" + plural + ", "},
		{account, crd, `(resourceNames: \[)`, `${1}"` + crd + `", `},
		{"post-install/200-migrate.yaml", crd, `(name: RESOURCES\n +value: )`, "${1}" + crd + ","},
	} {
		if strings.HasPrefix(e.file, "post-install/") && !a.exists(e.file) {
			continue
		}
		source, err := a.edited(a.contents, e.file)
		if err != nil {
			return err
		}
		if a.contents[e.file], err = edit(source, e.has, e.expression, e.replacement); err != nil {
			return fmt.Errorf("%s: %w", e.file, err)
		}
	}
	return nil
}

// guessOf returns the resource that meta.UnsafeGuessKindToResource takes for that of a kind. Its package imports 200 others, which the first make fork
// would compile.
func guessOf(kind string) string {
	lower := strings.ToLower(kind)
	if stem, ok := strings.CutSuffix(lower, "y"); ok {
		return stem + "ies"
	}
	if strings.HasSuffix(lower, "s") {
		return lower + "es"
	}
	return lower + "s"
}

// edit replaces each match of an expression, of which there is at least one, unless the source contains a text.
func edit(source, has, expression, replacement string) (string, error) {
	matched := regexp.MustCompile(expression)
	if strings.Contains(source, has) {
		return source, nil
	}
	if !matched.MatchString(source) {
		return "", fmt.Errorf("nothing matches %s", matched)
	}
	return matched.ReplaceAllString(source, replacement), nil
}
