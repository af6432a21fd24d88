/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mallard-dev/mallard/hack/template/imports"
)

// requireLibraries has the fork require the libraries that it does not keep at a version, instead of replacing them by its folders.
func (a Arguments) requireLibraries(files tree, version string) error {
	for _, library := range libraries {
		if !slices.Contains(a.Without, library.product) {
			continue
		}
		for path, f := range files {
			if !strings.HasSuffix(path, "go.mod") {
				continue
			}
			for _, module := range library.modules {
				name := regexp.QuoteMeta(oldModule + "/" + module)
				f.content = regexp.MustCompile(`(?m)^(replace )?\s*`+name+` => .*\n`).ReplaceAll(f.content, nil)
				f.content = regexp.MustCompile(`(?m)(`+name+`) v\S+`).ReplaceAll(f.content, []byte("$1 "+version))
			}
			files[path] = f
		}
		if bytes.Contains(files["go.mod"].content, []byte(oldModule+"/"+library.product+" =>")) {
			return fmt.Errorf("go.mod: %s is still replaced", library.product)
		}
	}
	return nil
}

// groupImports moves imports of the template's libraries from the group of the fork's own packages to that of other modules.
func (a Arguments) groupImports(files tree) {
	for path, f := range files {
		if strings.HasSuffix(path, ".go") && bytes.Contains(f.content, []byte(oldModule)) {
			f.content = importBlock.ReplaceAllFunc(f.content, func(block []byte) []byte { return []byte(a.group(string(block))) })
			files[path] = f
		}
	}
}

var (
	importBlock  = regexp.MustCompile(`(?ms)^import \(\n.*?^\)\n`)
	importedPath = regexp.MustCompile(`"([^"]+)"`)
)

// group sorts the imports of a block into the groups of .golangci.yaml. Comments stay with the import after them.
func (a Arguments) group(block string) string {
	groups := make([][]string, imports.Groups)
	var comments []string
	for line := range strings.Lines(strings.TrimSuffix(strings.TrimPrefix(block, "import (\n"), ")\n")) {
		imported := importedPath.FindStringSubmatch(line)
		switch {
		case strings.TrimSpace(line) == "":
		case imported == nil:
			comments = append(comments, line)
		default:
			i := imports.Group(a.Module, imported[1])
			groups[i] = append(groups[i], strings.Join(append(comments, line), ""))
			comments = nil
		}
	}
	var sections []string
	for _, group := range groups {
		if len(group) > 0 {
			sections = append(sections, strings.Join(group, ""))
		}
	}
	return "import (\n" + strings.Join(sections, "\n") + ")\n"
}

const maxLine, tab = 160, "    "

// widenLines has the linter accept the longest line, since new names may be longer than those that they replace.
func widenLines(files tree) {
	longest := maxLine
	for path, f := range files {
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && !strings.HasPrefix(path, "test/") {
			for line := range strings.Lines(string(f.content)) {
				longest = max(longest, len([]rune(strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", tab))))
			}
		}
	}
	settings := files[".golangci.yaml"]
	settings.content = bytes.Replace(settings.content, []byte("line-length: "+strconv.Itoa(maxLine)), []byte("line-length: "+strconv.Itoa(longest)), 1)
	files[".golangci.yaml"] = settings
}
