/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package language

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestRules_Examples_FaultsAreFoundAndCorrectTextsAreNot(t *testing.T) {
	rules, err := Rules()
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	for _, rule := range rules {
		if names[rule.Name] {
			t.Errorf("there are two rules %s", rule.Name)
		}
		names[rule.Name] = true
		kinds := rule.In
		if len(kinds) == 0 {
			kinds = []Kind{Comment, Doc, Literal, Prose}
		}
		for _, kind := range kinds {
			for _, fault := range rule.Faults {
				if rule.find(Text{Kind: kind, Content: fault}, strings.ToLower(fault)) == nil {
					t.Errorf("rule %s does not find its fault in a %s: %q", rule.Name, kind, fault)
				}
			}
		}
		for _, correct := range rule.Correct {
			for i := range rules {
				for _, kind := range kinds {
					if at := rules[i].find(Text{Kind: kind, Content: correct}, strings.ToLower(correct)); at != nil {
						t.Errorf("rule %s finds %q in the correct text of rule %s: %q", rules[i].Name, correct[at[0][0]:at[0][1]], rule.Name, correct)
					}
				}
			}
		}
	}
}

func TestTexts_File_ReturnsTextsWithKindAndLine(t *testing.T) {
	for name, test := range map[string]struct {
		content string
		want    []string
	}{
		"a_test.go": {
			"// Package a is one.\npackage a\n\nimport \"fmt\"\n\n// X is\n// two.\ntype X struct {\n\t// A field.\n\tA int `json:\"a\"` // behind\n}\n\n" +
				"func TestX(t *testing.T) {\n\t/* in\n\tside */\n\tfmt.Print(\"text\")\n" +
				"\tregexp.MustCompile(`one` + join(`two`))\n}\n",
			[]string{
				`doc 1 "Package a is one."`, `doc 6 "X is\ntwo."`, `doc 9 "A field."`, `comment 10 "behind"`, `name 13 "TestX"`, `comment 14 "in\n\tside "`,
				`literal 16 "\"text\""`,
			},
		},
		"a.md":   {"# T\n\nProse `code` [link](to.md).\n```sh\nfence\n```\n", []string{`prose 1 "# T\n\nProse ###### [link########.\n\n\n\n"`}},
		"a.yaml": {"# one\n# two\nkey: value # three\n", []string{`comment 1 "  one\n  two\nkey: value # three\n"`}},
	} {
		texts, err := Texts(name, test.content)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortStableFunc(texts, func(a, b Text) int { return a.Line - b.Line })
		var got []string
		for _, text := range texts {
			got = append(got, fmt.Sprintf("%s %d %q", text.Kind, text.Line, text.Content))
		}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("texts of %s:\n%s\nwant:\n%s", name, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
		}
	}
}

func TestCheck_ParagraphOfMoreThanSixLines_IsFound(t *testing.T) {
	six := strings.Repeat("line\n", 6)
	for content, want := range map[string][]int{
		six:                                nil,
		"# T\n\n" + six + "line\n\n" + six: {3},
		six + "- item\n" + six:             {7},
		six + "- item\n- item\n":           nil,
		"```\n" + six + six + "```\n":      nil,
		"| a |\n|---|\n" + strings.Repeat("| b |\n", 9): nil,
	} {
		texts, err := Texts("a.md", content)
		if err != nil {
			t.Fatal(err)
		}
		if got := longParagraphs(texts[0]); !slices.Equal(got, want) {
			t.Errorf("long paragraphs of %q: %v, want %v", content, got, want)
		}
	}
}
