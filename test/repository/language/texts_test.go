/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package language

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"strings"
)

// Text is a part of a file.
type Text struct {
	Kind Kind
	// Line is the number of its first line in the file.
	Line int
	// Content has as many lines as the part of the file.
	Content string
}

// Texts returns the texts of a file, by its name.
func Texts(name, content string) ([]Text, error) {
	switch filepath.Ext(name) {
	case ".go":
		return goTexts(name, content)
	case ".md":
		return []Text{{Prose, 1, prose(content)}}, nil
	default:
		return []Text{{Comment, 1, hash.ReplaceAllStringFunc(content, blankLine)}}, nil
	}
}

// hash begins the comments of YAML files, scripts and Makefiles.
var hash = regexp.MustCompile(`(?m)^[ \t]*@?#+`)

func blankLine(text string) string { return strings.Repeat(" ", len(text)) }

// goTexts returns comments, string literals, and the names of tests of a Go file. Tags are no texts, nor are regular expressions, which match those of
// others.
func goTexts(name, content string) ([]Text, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parsing a file: %w", err)
	}
	var texts []Text
	add := func(kind Kind, node ast.Node, content string) {
		texts = append(texts, Text{kind, files.Position(node.Pos()).Line, content})
	}
	docs, skipped := map[*ast.CommentGroup]bool{file.Doc: true}, map[ast.Node]bool{}
	ast.Inspect(file, func(node ast.Node) bool {
		if skipped[node] {
			return false
		}
		switch node := node.(type) {
		case *ast.ImportSpec:
			docs[node.Doc] = true
			return false
		case *ast.FuncDecl:
			docs[node.Doc] = true
			if strings.HasSuffix(name, "_test.go") && node.Recv == nil && isTest(node.Name.Name) {
				add(Name, node, node.Name.Name)
			}
		case *ast.GenDecl:
			docs[node.Doc] = true
		case *ast.TypeSpec:
			docs[node.Doc] = true
		case *ast.ValueSpec:
			docs[node.Doc] = true
		case *ast.Field:
			docs[node.Doc], skipped[node.Tag] = true, true
		case *ast.CallExpr:
			for _, argument := range node.Args {
				skipped[argument] = types.ExprString(node.Fun) == "regexp.MustCompile"
			}
		case *ast.BasicLit:
			if node.Kind == token.STRING {
				add(Literal, node, node.Value)
			}
		}
		return true
	})
	for _, group := range file.Comments {
		kind := Comment
		if docs[group] {
			kind = Doc
		}
		add(kind, group, comment(group, files))
	}
	return texts, nil
}

func isTest(name string) bool {
	return strings.HasPrefix(name, "Test") && name != "TestMain"
}

// comment is the text of a group without its markers, in as many lines.
func comment(group *ast.CommentGroup, files *token.FileSet) string {
	var lines []string
	next := files.Position(group.Pos()).Line
	for _, part := range group.List {
		for line := files.Position(part.Pos()).Line; next < line; next++ {
			lines = append(lines, "")
		}
		text := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(part.Text, "//"), "/*"), "*/")
		for line := range strings.SplitSeq(text, "\n") {
			lines = append(lines, strings.TrimPrefix(line, " "))
			next++
		}
	}
	return strings.Join(lines, "\n")
}

// code matches the parts of a line of prose that are not checked: code, targets of links, and comments.
var code = regexp.MustCompile("``[^`]+``|`[^`]*`|\\]\\([^)]*\\)|<!--.*?-->|<[^<>]+>")

// prose is the text of a Markdown file without its code.
func prose(content string) string {
	var lines []string
	fence := ""
	for line := range strings.SplitSeq(content, "\n") {
		text := strings.TrimLeft(line, " >")
		marker := text[:len(text)-len(strings.TrimLeft(text, "`~"))]
		switch {
		case fence == "" && len(marker) >= 3:
			fence, line = marker, ""
		case fence != "" && strings.HasPrefix(text, fence):
			fence, line = "", ""
		case fence != "":
			line = ""
		default:
			line = code.ReplaceAllStringFunc(line, blank)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// longest is the number of lines that a paragraph of a document may have.
const longest = 6

// begins matches the first line of a paragraph that follows another without an empty line: an element of a list, a footnote.
var begins = regexp.MustCompile(`^[ >]*([-*+]|\d+\.|\[\^[^\]]+\]:) `)

// single matches lines that are no part of a paragraph: headings and rows of tables.
var single = regexp.MustCompile(`^[ >]*($|#|\|)`)

// longParagraphs returns the numbers of the first lines of paragraphs that are too long.
func longParagraphs(text Text) []int {
	if text.Kind != Prose {
		return nil
	}
	var found []int
	length := 0
	for i, line := range strings.Split(text.Content, "\n") {
		switch {
		case single.MatchString(line):
			length = 0
			continue
		case begins.MatchString(line):
			length = 0
		}
		length++
		if length == longest+1 {
			found = append(found, text.Line+i-longest)
		}
	}
	return found
}
