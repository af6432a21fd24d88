/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pages

import (
	"errors"
	"fmt"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// configMap contains the rows of the tables of a ConfigMap.
type configMap struct {
	Name               string
	Texts              []string
	Keys, Combinations [][]string
}

// configurationPage returns the page of ConfigMaps, environment variables and flags.
func configurationPage(root string) (string, error) {
	paths, err := filepath.Glob(filepath.Join(root, "config", "config-*.yaml"))
	if err != nil {
		return "", fmt.Errorf("finding ConfigMaps: %w", err)
	}
	var page struct {
		ConfigMaps []configMap
		Programs   []program
	}
	for _, file := range paths {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("reading ConfigMaps: %w", err)
		}
		m, err := readConfigMap(content, filepath.Base(file))
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", file, err)
		}
		page.ConfigMaps = append(page.ConfigMaps, m)
	}
	if page.Programs, err = programs(root); err != nil {
		return "", err
	}
	return render("configuration.md", page)
}

// example matches a line of _example that sets a key: a key that has no default is commented out.
var example = regexp.MustCompile(`^(# )?([a-z][a-zA-Z0-9.-]*): (.+)$`)

// readConfigMap reads a ConfigMap. The keys of a paragraph of its _example share the comment of the paragraph. A comment without a key
// describes the ConfigMap, or a combination of keys after "Together: ".
func readConfigMap(content []byte, file string) (configMap, error) {
	var stored struct {
		Metadata struct{ Name string }
		Data     map[string]string
	}
	if err := yaml.Unmarshal(content, &stored); err != nil {
		return configMap{}, fmt.Errorf("parsing: %w", err)
	}
	m := configMap{Name: stored.Metadata.Name}
	for paragraph := range strings.SplitSeq(stored.Data["_example"], "\n\n") {
		description, valid, keys := readParagraph(paragraph)
		if strings.HasPrefix(paragraph, "####") {
			continue
		}
		if combination, ok := strings.CutPrefix(description, "Together: "); ok {
			accepted, rejected, _ := strings.Cut(valid, " Invalid: ")
			rejected = strings.ReplaceAll(rejected, " Invalid: ", "` `")
			m.Combinations = append(m.Combinations, []string{strings.TrimSuffix(combination, "."), code(accepted), code(rejected)})
		} else if len(keys) == 0 && description != "" {
			m.Texts = append(m.Texts, description)
		}
		for _, key := range keys {
			if strings.HasPrefix(key[1], "|") {
				key[1] = fmt.Sprintf("[JSON](../../config/%s)", file)
			}
			m.Keys = append(m.Keys, []string{code(key[0]), key[1], code(stored.Data[key[0]]), strings.TrimSuffix(valid, "."), description})
		}
	}
	if len(m.Keys) == 0 {
		return configMap{}, errors.New("the ConfigMap has no key in _example")
	}
	return m, nil
}

// readParagraph returns the comment of a paragraph before and after "Valid: ", and its keys with their defaults.
func readParagraph(paragraph string) (description, valid string, keys [][2]string) {
	var words []string
	for line := range strings.Lines(paragraph) {
		line = strings.TrimSuffix(line, "\n")
		if match := example.FindStringSubmatch(line); match != nil {
			value := ""
			if match[1] == "" {
				value = strings.Trim(match[3], `"`)
			}
			if value != "" && value != "|" {
				value = code(value)
			}
			keys = append(keys, [2]string{match[2], value})
		} else if text, ok := strings.CutPrefix(line, "# "); ok {
			words = append(words, text)
		}
	}
	description, valid, _ = strings.Cut(strings.Join(words, " "), " Valid: ")
	return description, valid, keys
}

// program is a struct of settings: its name, and the rows of its variables.
type program struct {
	Title     string
	Variables [][]string
}

// programs returns the structs of settings that programs and packages declare.
func programs(root string) ([]program, error) {
	files, err := sources(root, "cmd", "crud", "pkg", "confidential")
	if err != nil {
		return nil, err
	}
	rules := make(map[string]string)
	for _, file := range files {
		for _, declaration := range file.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && f.Name.Name == "Decode" && f.Recv != nil {
				rules[typeName(f.Recv.List[0].Type)] = ruleOf(f)
			}
		}
	}
	var found []program
	for _, file := range files {
		folder := path.Dir(file.path)
		title := "Program " + path.Base(folder)
		if !strings.HasPrefix(folder, "cmd/") {
			title = "Processes with package " + folder
		}
		ast.Inspect(file.File, func(node ast.Node) bool {
			if s, ok := node.(*ast.StructType); ok {
				if rows := variables(s, rules); len(rows) > 0 {
					found = append(found, program{title, rows})
				}
			}
			return true
		})
	}
	return found, nil
}

// variables returns a row for each field of a struct that has a variable.
func variables(s *ast.StructType, rules map[string]string) [][]string {
	var rows [][]string
	for _, f := range s.Fields.List {
		if f.Tag == nil {
			continue
		}
		tag := reflect.StructTag(strings.Trim(f.Tag.Value, "`"))
		name, ok := tag.Lookup("envconfig")
		if !ok {
			continue
		}
		standard := code(tag.Get("default"))
		if tag.Get("required") != "" {
			standard = "(required)"
		}
		rows = append(rows, []string{code(name), standard, rules[typeName(f.Type)], sentence(tag.Get("desc"))})
	}
	return rows
}

// typeName returns the name of a type without its package, or of the type that a pointer is to.
func typeName(expression ast.Expr) string {
	if pointer, ok := expression.(*ast.StarExpr); ok {
		expression = pointer.X
	}
	switch typ := expression.(type) {
	case *ast.Ident:
		return typ.Name
	case *ast.SelectorExpr:
		return typ.Sel.Name
	default:
		return ""
	}
}

// ruleOf returns the text after "must be " in a function that decodes a variable.
func ruleOf(f *ast.FuncDecl) string {
	rule := ""
	ast.Inspect(f, func(node ast.Node) bool {
		if literal, ok := node.(*ast.BasicLit); ok {
			if text, err := strconv.Unquote(literal.Value); err == nil && strings.HasPrefix(text, "must be ") {
				rule = strings.TrimPrefix(text, "must be ")
			}
		}
		return true
	})
	return rule
}
