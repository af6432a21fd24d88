/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pages

import (
	"cmp"
	"fmt"
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// kindReasons are the conditions, reasons and events that the sources declare for a kind.
type kindReasons struct {
	kind, page string
	conditions []constant // of type apis.ConditionType
	reasons    []constant
	reported   []string // values of the conditions whose transitions are events
	events     []constant
}

var (
	reasonName = regexp.MustCompile(`^\w*Reason[A-Z]\w*$`)
	word       = regexp.MustCompile(`\w+`)
	status     = regexp.MustCompile(`\(((?:True|False|Unknown)\b[^)]*)\)`)
	// leader is the beginning of a comment: the name of the constant, and the verb or the colon that follows.
	leader = regexp.MustCompile(`^\w+(?: \((?:True|False|Unknown)\b[^)]*\))?` +
		`(?::| means(?: that)?| is the reason (?:when|while|if)| is the reason of the Normal event that reports)? ?`)
)

// reasonsPage returns the page of the reasons. A kind is the word before Condition in the names of the conditions of a file; its reasons are in
// the same file, and its events in the folder of pkg/reconciler that has the name of the kind.
func reasonsPage(root string) (string, error) {
	files, err := sources(root, "pkg", "crud", "observe")
	if err != nil {
		return "", err
	}
	suffix := "-fields.md"
	if isDescribed(root) {
		suffix = ".md"
	}
	var page struct {
		Kinds    []kindPart
		Packages []reasonPart
	}
	kinds := make(map[string]*kindReasons)
	for _, file := range files {
		all := constants(file)
		k := &kindReasons{}
		for _, c := range all {
			if kind, _, ok := strings.Cut(c.name, "Condition"); ok && c.typ == "ConditionType" {
				k.kind, k.page, k.conditions = kind, "api/"+strings.ToLower(kind)+suffix, append(k.conditions, c)
			} else if reasonName.MatchString(c.name) {
				k.reasons = append(k.reasons, c)
			}
		}
		for _, c := range k.reasons {
			if c.doc == "" {
				return "", fmt.Errorf("constant %s of %s has no comment: describe the meaning, and the remedy after \"Remedy:\"", c.name, file.path)
			}
			if k.kind != "" && !status.MatchString(c.doc) {
				return "", fmt.Errorf("constant %s of %s does not name the status: write (True), (False) or (Unknown) after its name", c.name, file.path)
			}
		}
		switch {
		case k.kind != "":
			kinds[k.kind] = k
		case len(k.reasons) > 0:
			page.Packages = append(page.Packages, reasonPart{path.Dir(file.path), sentence(k.reasons[0].block), reasonRows(k.reasons)})
		}
	}
	for _, file := range files {
		for _, k := range kinds {
			if path.Dir(file.path) == "pkg/reconciler/"+strings.ToLower(k.kind) {
				k.addEvents(file)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		page.Kinds = append(page.Kinds, kinds[name].part())
	}
	return render("reasons-and-events.md", page)
}

// addEvents adds the constants for reasons of events that a file declares, and the conditions that it names as reported.
func (k *kindReasons) addEvents(file source) {
	for _, c := range constants(file) {
		if strings.HasPrefix(c.name, "Event") {
			k.events = append(k.events, c)
		}
	}
	ast.Inspect(file.File, func(node ast.Node) bool {
		pair, ok := node.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		key, isKey := pair.Key.(*ast.Ident)
		selector, isSelector := pair.Value.(*ast.SelectorExpr)
		if isKey && isSelector && key.Name == "Condition" {
			for _, c := range k.conditions {
				if c.name == selector.Sel.Name {
					k.reported = append(k.reported, c.value)
				}
			}
		}
		return true
	})
}

// kindPart is the part of the page about a kind.
type kindPart struct {
	Kind, Page string
	Sections   []reasonPart
	Events     [][]string
}

// reasonPart is the part of the page about a condition, or about the events of a package.
type reasonPart struct {
	Title, Text string
	Reasons     [][]string
}

func (k *kindReasons) part() kindPart {
	part := kindPart{Kind: k.kind, Page: k.page}
	for _, condition := range k.conditions {
		of := slices.DeleteFunc(slices.Clone(k.reasons), func(c constant) bool { return !slices.Contains(k.conditionsOf(c), condition.value) })
		text := sentence("The condition" + strings.TrimPrefix(condition.doc, condition.name))
		part.Sections = append(part.Sections, reasonPart{condition.value, text, reasonRows(of)})
	}
	if others := slices.DeleteFunc(slices.Clone(k.reasons), func(c constant) bool { return len(k.conditionsOf(c)) > 0 }); len(others) > 0 {
		part.Sections = append(part.Sections, reasonPart{Title: "other reasons", Reasons: reasonRows(others)})
	}
	if len(k.reported) > 0 {
		part.Events = append(part.Events, []string{"Warning", "that of the condition", codes(k.reported) + " became False, or False for another reason."})
	}
	for _, c := range k.events {
		part.Events = append(part.Events, []string{"Normal", code(c.value), meaning(c)})
	}
	return part
}

// conditionsOf returns the conditions that a reason is for: those that its block names, in the first sentence if that names any.
func (k *kindReasons) conditionsOf(reason constant) []string {
	first, _, _ := strings.Cut(reason.block, ". ")
	for _, text := range []string{first, reason.block, reason.doc} {
		var named []string
		words := word.FindAllString(text, -1)
		for _, c := range k.conditions {
			if slices.Contains(words, c.value) {
				named = append(named, c.value)
			}
		}
		if len(named) > 0 {
			return named
		}
	}
	return nil
}

func reasonRows(reasons []constant) [][]string {
	var rows [][]string
	for _, c := range reasons {
		state := ""
		if match := status.FindStringSubmatch(c.doc); match != nil {
			state = match[1]
		}
		_, remedy, _ := strings.Cut(c.doc, "Remedy: ")
		rows = append(rows, []string{code(c.value), state, meaning(c), cmp.Or(sentence(remedy), "–")})
	}
	return rows
}

// meaning is the comment of a constant without its name, its status and the remedy.
func meaning(c constant) string {
	text, _, _ := strings.Cut(leader.ReplaceAllString(c.doc, ""), "Remedy: ")
	return sentence(text)
}
