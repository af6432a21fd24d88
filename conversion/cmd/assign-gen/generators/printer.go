/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generators

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"
)

// Packages that generated code uses.
const (
	runtimePackage = "github.com/mallard-dev/mallard/conversion"
	testPackage    = runtimePackage + "/conversiontest"
	apisPackage    = "knative.dev/pkg/apis"
	ctrlPackage    = "sigs.k8s.io/controller-runtime/pkg/conversion"
	metaPackage    = "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// printer writes the body of one file and remembers what it has to import.
type printer struct {
	bytes.Buffer
	// pkg is the import path of the package that the file belongs to.
	pkg string
	// versions are by the import paths of their API packages.
	versions map[string]*plan.Version
	// aliases are the names of imported packages, by import path.
	aliases map[string]string
	// keys are the constants of bag keys, enumNames are the names of enums in functions, and keyFunctionNames are those of functions that name
	// elements of lists.
	keys, enumNames, keyFunctionNames map[string]string
}

func newPrinter(pkg string, all []*plan.Version) *printer {
	p := &printer{pkg: pkg, versions: make(map[string]*plan.Version), aliases: make(map[string]string)}
	for _, version := range all {
		p.versions[version.Package.Path] = version
	}
	return p
}

// linef writes a line. gofmt indents it.
func (p *printer) linef(format string, args ...any) {
	fmt.Fprintf(p, format+"\n", args...)
}

func (p *printer) end() { p.linef("}\n") }

// name returns the qualified name of a declaration of a package, and imports the package if need be.
func (p *printer) name(pkg, name string) string {
	if pkg == p.pkg {
		return name
	}
	alias, known := p.aliases[pkg]
	if !known {
		alias = p.alias(pkg)
		p.aliases[pkg] = alias
	}
	return alias + "." + name
}

func (p *printer) runtime(name string) string { return p.name(runtimePackage, name) }

var isVersion = regexp.MustCompile(`^v\d+((alpha|beta)\d+)?$`)

// locals are the names of variables in generated functions.
var locals = []string{
	"all", "around", "at", "augmented", "bag", "converted", "dst", "element", "elements", "err", "exact", "from", "hub", "i", "in", "key",
	"next", "object", "ok", "order", "original", "own", "same", "self", "shown", "src", "to", "value",
}

// alias chooses a package's name: as Kubernetes does for versions, metav1, and v1storage for the storage types of v1.
func (p *printer) alias(pkg string) string {
	base, parent := path.Base(pkg), path.Base(path.Dir(pkg))
	alias := base
	switch {
	case pkg == ctrlPackage:
		alias = "ctrlconversion" // conversion is this project's
	case isVersion.MatchString(base):
		alias = parent + base
	case base == "storage" && isVersion.MatchString(parent):
		alias = parent + base
	}
	alias = regexp.MustCompile(`[^a-zA-Z0-9]`).ReplaceAllString(alias, "")
	taken := append(slices.Collect(maps.Values(p.aliases)), locals...)
	for unique, n := alias, 2; ; n++ {
		if !slices.Contains(taken, unique) {
			return unique
		}
		unique = fmt.Sprintf("%s%d", alias, n)
	}
}

func (p *printer) imports() string {
	var standard, others []string
	for _, pkg := range slices.Sorted(maps.Keys(p.aliases)) {
		line := quoted(pkg)
		if alias := p.aliases[pkg]; alias != path.Base(pkg) {
			line = alias + " " + line
		}
		if first, _, _ := strings.Cut(pkg, "/"); strings.Contains(first, ".") {
			others = append(others, line)
		} else {
			standard = append(standard, line)
		}
	}
	if standard != nil && others != nil {
		standard = append(standard, "")
	}
	if lines := slices.Concat(standard, others); lines != nil {
		return "import (\n" + strings.Join(lines, "\n") + "\n)\n\n"
	}
	return ""
}

// storage writes a type of a storage type's field.
func (p *printer) storage(t *model.Type) string {
	return p.spell(t, func(own *model.Type) string { return p.name(p.versions[own.Package].StoragePath(), own.Name) })
}

// api writes a type of an API type's field.
func (p *printer) api(t *model.Type) string {
	return p.spell(t, func(own *model.Type) string { return p.name(own.Declared().Package, own.Declared().Name) })
}

// spell writes a type; own writes one of a version's package.
func (p *printer) spell(t *model.Type, own func(own *model.Type) string) string {
	return t.Spelled(func(named *model.Type) string {
		if p.versions[named.Package] != nil {
			return own(named)
		}
		return p.name(named.Package, named.Name)
	})
}

// address returns the expression of a pointer to what an expression stands for.
func address(expression string) string {
	if pointer, ok := strings.CutPrefix(expression, "*"); ok {
		return pointer
	}
	return "&" + expression
}

// object returns an expression with fields, methods and elements.
func object(expression string) string { return strings.TrimPrefix(expression, "*") }

// indexed returns an expression that can be indexed.
func indexed(expression string) string {
	if strings.HasPrefix(expression, "*") {
		return "(" + expression + ")"
	}
	return expression
}

// exported turns the first letter into a capital one, after leaving out what is no letter or digit.
func exported(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') })
	for i, word := range words {
		words[i] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

func quoted(text string) string { return strconv.Quote(text) }

// quotedAll are texts as a list of arguments in Go.
func quotedAll(texts []string) string {
	return strings.Join(model.Each(texts, quoted), ", ")
}

// identifiers gives each key a unique identifier that begins with a prefix. Where keys differ only in punctuation or in the case
// of a first letter, all of them are spelled literally: hand-written code that uses such an identifier fails to compile when another
// key makes it ambiguous, instead of meaning the other key.
func identifiers(prefix string, keys []string) map[string]string {
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	count := make(map[string]int)
	for _, key := range keys {
		count[exported(key)]++
	}
	all := make(map[string]string)
	for _, key := range keys {
		all[key] = prefix + exported(key)
		if count[exported(key)] > 1 {
			all[key] = prefix + "_" + literal(key)
		}
	}
	return all
}

// literal spells a key so that no other one is spelled alike.
func literal(key string) string {
	var text strings.Builder
	for _, r := range key {
		switch {
		case r < 0x80 && exported(string(r)) != "":
			text.WriteRune(r)
		case r == '/' || r == '.':
			text.WriteByte('_')
		case r == '-':
			text.WriteString("__")
		default:
			fmt.Fprintf(&text, "_%x_", r)
		}
	}
	return text.String()
}
