/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package language

import (
	_ "embed"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Kind is the kind of a text, which selects the rules that apply to it.
type Kind string

const (
	// Comment is any comment, and the whole text of files that are not Go or Markdown.
	Comment Kind = "comment"
	// Doc is the comment of a package, type, function, constant, variable or field.
	Doc Kind = "doc"
	// Literal is a string literal.
	Literal Kind = "literal"
	// Name is the name of a test function.
	Name Kind = "name"
	// Prose is Markdown outside of code.
	Prose Kind = "prose"
)

// Rule finds one fault.
type Rule struct {
	// Name identifies the rule in a fault.
	Name string `json:"name"`
	// Pattern finds the fault. A space in it matches any white space, so that a fault may continue in the next line. Letters match
	// both cases unless the pattern begins with (?-i).
	Pattern string `json:"pattern"`
	// Except matches correct texts that Pattern would find.
	Except string `json:"except,omitempty"`
	// In restricts the rule to these kinds of text. All but Name by default.
	In []Kind `json:"in,omitempty"`
	// Use is the suggestion.
	Use string `json:"use"`
	// Faults are found, and Correct are not.
	Faults  []string `json:"faults"`
	Correct []string `json:"correct"`

	pattern, except *regexp.Regexp
	// needles are in lowercase. A text without any of them has no match of Pattern. There are none if the pattern does not show any.
	needles []string
}

//go:embed rules.yaml
var rulesYAML []byte

// Rules returns the rules of this repository.
func Rules() ([]Rule, error) {
	var parsed []Rule
	if err := yaml.UnmarshalStrict(rulesYAML, &parsed); err != nil {
		return nil, fmt.Errorf("rules.yaml: %w", err)
	}
	for i := range parsed {
		rule := &parsed[i]
		for from, to := range map[string]**regexp.Regexp{rule.Pattern: &rule.pattern, rule.Except: &rule.except} {
			if from == "" {
				continue
			}
			compiled, err := regexp.Compile("(?im)" + strings.ReplaceAll(from, " ", `\s+`))
			if err != nil {
				return nil, fmt.Errorf("rules.yaml: rule %s: %w", rule.Name, err)
			}
			*to = compiled
		}
		if rule.pattern == nil || len(rule.Faults) == 0 || len(rule.Correct) == 0 || rule.Use == "" {
			return nil, fmt.Errorf("rules.yaml: rule %q needs a pattern, use, faults and correct", rule.Name)
		}
		tree, err := syntax.Parse(rule.pattern.String(), syntax.Perl)
		if err != nil {
			return nil, fmt.Errorf("rules.yaml: rule %s: %w", rule.Name, err)
		}
		rule.needles = needles(tree)
	}
	return parsed, nil
}

// applies reports whether the rule is for texts of the kind.
func (r *Rule) applies(kind Kind) bool {
	if len(r.In) == 0 {
		return kind != Name
	}
	return slices.Contains(r.In, kind) || kind == Doc && slices.Contains(r.In, Comment)
}

// find returns where the rule finds its fault in a text, which it gets in lowercase too.
func (r *Rule) find(text Text, lower string) [][]int {
	if !r.applies(text.Kind) || r.needles != nil && !slices.ContainsFunc(r.needles, func(needle string) bool { return strings.Contains(lower, needle) }) {
		return nil
	}
	content := text.Content
	if r.except != nil {
		content = r.except.ReplaceAllStringFunc(content, blank)
	}
	return r.pattern.FindAllStringIndex(content, -1)
}

// Fault is a part of a text that breaks a rule.
type Fault struct {
	Line             int
	Match, Rule, Use string
}

func (f Fault) String() string {
	return fmt.Sprintf("%d: %q (%s): use %s", f.Line, f.Match, f.Rule, f.Use)
}

// Check returns the faults of the texts.
func Check(rules []Rule, texts []Text) []Fault {
	var faults []Fault
	for _, text := range texts {
		lower := strings.ToLower(text.Content)
		for _, line := range longParagraphs(text) {
			faults = append(faults, Fault{line, "a paragraph of more than six lines", "paragraph", "several paragraphs, a list or a table"})
		}
		for i := range rules {
			for _, at := range rules[i].find(text, lower) {
				line := text.Line + strings.Count(text.Content[:at[0]], "\n")
				faults = append(faults, Fault{line, text.Content[at[0]:at[1]], rules[i].Name, rules[i].Use})
			}
		}
	}
	return faults
}

// blank replaces everything but the ends of lines, so that offsets remain.
func blank(text string) string {
	content := []byte(text)
	for i, b := range content {
		if b != '\n' {
			content[i] = '#'
		}
	}
	return string(content)
}

// needles returns texts in lowercase of which each match of an expression contains at least one, or nil if it knows none. Looking for a text is many
// times faster than matching an expression.
func needles(expression *syntax.Regexp) []string {
	switch expression.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(expression.Rune))}
	case syntax.OpCapture, syntax.OpPlus:
		return needles(expression.Sub[0])
	case syntax.OpRepeat:
		if expression.Min > 0 {
			return needles(expression.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range expression.Sub {
			if found := needles(sub); shortest(found) > shortest(best) {
				best = found
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range expression.Sub {
			found := needles(sub)
			if found == nil {
				return nil
			}
			all = append(all, found...)
		}
		return all
	default:
	}
	return nil
}

// shortest returns the length of the shortest text, 0 if there is none.
func shortest(texts []string) int {
	if len(texts) == 0 {
		return 0
	}
	return len(slices.MinFunc(texts, func(a, b string) int { return len(a) - len(b) }))
}
