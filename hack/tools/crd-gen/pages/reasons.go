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

const reasonsIntro = `# Reasons and events

> For users and operators of the kinds. Takes 1 minute for a reason. Result: you know the meaning of a reason and its remedy.

A condition that is not True has a reason. The condition Ready has the reason of the condition that it depends on, which ` + "`kubectl get`" + ` shows
in the column REASON. The message of the condition names the objects. ` + "`kubectl describe`" + ` shows both, and the events of the object.

An event reports that a condition has changed. Reconciliations without a change emit no events. A Warning has the reason and the message of the
condition that became False, or False for another reason.
`

const reasonsEnd = `
## Events of knative.dev/pkg

The generated reconcilers emit these events about every kind:

| type | reason | meaning | remedy |
|---|---|---|---|
| Normal | ` + "`FinalizerUpdate`" + ` | The finalizer was added or removed. | |
| Warning | ` + "`FinalizerUpdateFailed`" + ` | The API server rejected a change of the finalizer. | None. The controller retries with exponential back-off. |
| Warning | ` + "`UpdateFailed`" + ` | The API server rejected the status. | None. The controller retries with exponential back-off. |
| Warning | ` + "`InternalError`" + ` | The reconciliation returned an error that no condition describes. | Read the log of the controller. |
`

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
	var sections, others []string
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
			others = append(others, fmt.Sprintf("\n## Events of package %s\n\n%s\n\n%s", path.Dir(file.path), sentence(k.reasons[0].block),
				reasonTable(k.reasons)))
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
		sections = append(sections, kinds[name].section())
	}
	return reasonsIntro + strings.Join(append(sections, others...), "") + reasonsEnd, nil
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

func (k *kindReasons) section() string {
	var text strings.Builder
	fmt.Fprintf(&text, "\n## %s\n\n[%s](%s) describes the kind.\n", k.kind, k.kind, k.page)
	for _, condition := range k.conditions {
		var of []constant
		for _, c := range k.reasons {
			if slices.Contains(k.conditionsOf(c), condition.value) {
				of = append(of, c)
			}
		}
		fmt.Fprintf(&text, "\n### %s: %s\n\n%s\n", k.kind, condition.value, sentence("The condition"+strings.TrimPrefix(condition.doc, condition.name)))
		if len(of) > 0 {
			text.WriteString("\n" + reasonTable(of))
		}
	}
	var others []constant
	for _, c := range k.reasons {
		if len(k.conditionsOf(c)) == 0 {
			others = append(others, c)
		}
	}
	if len(others) > 0 {
		fmt.Fprintf(&text, "\n### %s: other reasons\n\n%s", k.kind, reasonTable(others))
	}
	var rows [][]string
	if len(k.reported) > 0 {
		rows = append(rows, []string{"Warning", "that of the condition", codes(k.reported) + " became False, or False for another reason."})
	}
	for _, c := range k.events {
		rows = append(rows, []string{"Normal", code(c.value), meaning(c)})
	}
	if len(rows) > 0 {
		fmt.Fprintf(&text, "\n### %s: events\n\n%s", k.kind, table([]string{"type", "reason", "meaning"}, rows))
	}
	return text.String()
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

func reasonTable(reasons []constant) string {
	var rows [][]string
	for _, c := range reasons {
		state := ""
		if match := status.FindStringSubmatch(c.doc); match != nil {
			state = match[1]
		}
		_, remedy, _ := strings.Cut(c.doc, "Remedy: ")
		rows = append(rows, []string{code(c.value), state, meaning(c), cmp.Or(sentence(remedy), "–")})
	}
	return table([]string{"reason", "status", "meaning", "remedy"}, rows)
}

// meaning is the comment of a constant without its name, its status and the remedy.
func meaning(c constant) string {
	text, _, _ := strings.Cut(leader.ReplaceAllString(c.doc, ""), "Remedy: ")
	return sentence(text)
}
