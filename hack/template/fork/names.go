/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"bytes"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The names of the template.
const (
	oldModule    = "github.com/mallard-dev/mallard"
	oldGroup     = "samples.knative.dev"
	oldPackage   = "samples"
	oldName      = "Mallard"
	oldNamespace = "knative-samples"
	oldDomain    = "mallard.dev"
	oldHolder    = "The Mallard Authors"
	oldLicense   = "Apache-2.0"
)

// names renames. One expression finds all names at once, so that a new name that contains an old one is not renamed again.
type names struct {
	Arguments

	// apiPackage is the Go package of the API, and the folder that it is in.
	apiPackage string
	rules      []rule
	expression *regexp.Regexp
}

// rule replaces what its expression matches. Rules are tried in their order.
type rule struct {
	expression string
	// replace returns the new text for a match between before and after.
	replace func(before, match, after string) string
}

func newNames(a Arguments, files tree) *names {
	n := &names{Arguments: a, apiPackage: apiPackage(a.Group, files)}
	for _, kept := range Exceptions(a) {
		n.rules = append(n.rules, rule{kept, func(_, match, _ string) string { return match }})
	}
	n.literal(oldModule, a.Module)
	if name := firstLabel(a.Group); strings.Contains(name, "-") {
		// Generators name identifiers after the group's first label.
		n.literal("// +groupName="+oldGroup+"\n", "// +groupName="+a.Group+"\n// +groupGoName="+goName(name)+"\n")
	}
	n.literal(regexp.QuoteMeta(oldGroup), regexp.QuoteMeta(a.Group)) // in expressions and JSON paths
	n.literal("apis/"+oldGroup, "apis/"+a.Group)                     // no folder, but a path of the API server
	n.literal(oldGroup, a.Group)
	n.literal(oldNamespace, a.Namespace)
	n.literal(oldDomain, a.Group)
	// Import paths, folders, generated identifiers and aliases of imports.
	n.rules = append(n.rules, rule{`apis/samples\b|\bsamples/v1|\b(?:fake)?samples(?:v1\w*|client)\b|\bfakesamples\b`, n.replacePackage})
	n.rules = append(n.rules, rule{`\b[Pp]ackage samples\b|\bsamples\.`, n.replaceQualifier})
	n.literal("SamplesV1", goName(firstLabel(a.Group))+"V1")
	n.rules = append(n.rules, rule{`[Mm]allard`, n.replaceName})
	expressions := make([]string, 0, len(n.rules))
	for _, r := range n.rules {
		expressions = append(expressions, "("+r.expression+")")
	}
	n.expression = regexp.MustCompile(strings.Join(expressions, "|"))
	return n
}

// Exceptions returns expressions, without groups, for the old names that stay in a fork with the arguments.
func Exceptions(a Arguments) []string {
	template := regexp.QuoteMeta(oldModule)
	stay := []string{
		oldHolder,                          // section 4 of the Apache License: a fork keeps the copyright notices of the files that it keeps
		`MALLARD_TEST_(?:INPUTS|SEED)`,     // the library for tests with random input reads these environment variables
		`\.cache/mallard/`,                 // all operators of a machine share the builds of the control plane
		`https://` + template + `[\w./-]*`, // links to the documents of the template
		`\[Mallard\]`,
		template + `/(?:` + strings.Join(a.required(), "|") + `)\b`,
		template + `(?:(?:/hack/tools)?[ ,]v|/LICENSE)`, // go.mod files and licenses
		template + `[\w/-]* => /`,
		`template=` + template + `\b`,                   // hack/update.sh
		`,` + template + `\)|\["` + template + `/\*\*"`, // .golangci.yaml
	}
	if filepath.IsAbs(a.Modules) {
		stay = append(stay, regexp.QuoteMeta(a.Modules)+`\b`)
	}
	return stay
}

func (n *names) literal(from, to string) {
	n.rules = append(n.rules, rule{regexp.QuoteMeta(from), func(_, _, _ string) string { return to }})
}

func (n *names) replacePackage(_, match, _ string) string {
	return strings.Replace(match, oldPackage, n.apiPackage, 1)
}

// replaceQualifier leaves fields of other values alone, and ends of sentences.
func (n *names) replaceQualifier(before, match, after string) string {
	next, _ := utf8.DecodeRuneInString(after)
	if strings.HasSuffix(match, ".") && (strings.HasSuffix(before, ".") || !unicode.IsUpper(next)) {
		return match
	}
	return n.replacePackage("", match, "")
}

// replaceName renames the operator by the form that the name has where it is: an identifier, a label, or the name as people write it. Other forms do
// not occur in the files that forks keep.
func (n *names) replaceName(before, match, after string) string {
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	switch {
	case match != oldName:
		return strings.ToLower(n.Name)
	case isWord(last) || isWord(next):
		return goName(n.Name)
	default:
		return n.Name
	}
}

func isWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// rename returns a text with the new names.
func (n *names) rename(text string) string {
	var renamed strings.Builder
	end := 0
	for _, match := range n.expression.FindAllStringSubmatchIndex(text, -1) {
		for i, r := range n.rules {
			if from, to := match[2*i+2], match[2*i+3]; from >= 0 {
				renamed.WriteString(text[end:from])
				renamed.WriteString(r.replace(text[max(0, from-utf8.UTFMax):from], text[from:to], text[to:min(len(text), to+utf8.UTFMax)]))
				end = to
				break
			}
		}
	}
	renamed.WriteString(text[end:])
	return renamed.String()
}

// goName makes an identifier of a name with dashes.
func goName(name string) string {
	var identifier strings.Builder
	for part := range strings.SplitSeq(name, "-") {
		if part != "" {
			identifier.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return identifier.String()
}

func firstLabel(group string) string {
	first, _, _ := strings.Cut(group, ".")
	return first
}

// apiPackage names the Go package of the API after the group, unless the name has another meaning in the template's code.
func apiPackage(group string, files tree) string {
	name := strings.ReplaceAll(firstLabel(group), "-", "")
	identifier := regexp.MustCompile(`(?m)^[^/"\n]*\b` + name + `\b`)
	used := token.IsKeyword(name)
	for path, file := range files {
		if strings.HasSuffix(path, ".go") && bytes.Contains(file.content, []byte(oldPackage)) && name != oldPackage {
			used = used || identifier.Match(file.content)
		}
	}
	if used {
		return name + "apis"
	}
	return name
}

// mentioned matches each text with a name of the template, faster than the expression with all rules.
var mentioned = regexp.MustCompile(`(?i)mallard|samples`)

// renameAll renames in all files and their paths.
func (n *names) renameAll(files tree) tree {
	renamed := make(tree, len(files))
	for path, f := range files {
		if mentioned.Match(f.content) && utf8.Valid(f.content) {
			f.content = []byte(n.rename(string(f.content)))
		}
		renamed[n.rename(path)] = f
	}
	return renamed
}
