/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pages

import (
	"errors"
	"fmt"
	"go/ast"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

const configurationIntro = `# Configuration

> For operators. Takes 5 minutes. Result: you know each key and variable, its default and its valid values.

## ConfigMaps

The ConfigMaps are in the namespace of the operator. A key in ` + "`_example`" + ` has no effect; copy the key to the same depth as ` + "`_example`" + ` to set
it. The webhook rejects other keys, a value or a combination of keys that is not valid, and the changed content of ` + "`_example`" + `. A process does
not start with an invalid value, and one that runs keeps the last valid content. A change takes effect without a restart unless the table says otherwise.
`

const commonVariables = `
### Every process

Most are those of knative.dev/pkg, which every Knative controller has.

| variable | default | description |
|---|---|---|
| ` + "`SYSTEM_NAMESPACE`" + ` | (required) | Namespace of the operator's ConfigMaps, leases and secrets. |
| ` + "`POD_NAME`" + ` | | Name of the Pod, which logs, metrics and traces contain. |
| ` + "`WATCH_NAMESPACE`" + ` | | The only namespace whose objects are watched; empty for all namespaces. |
| ` + "`HEALTH_PORT`" + ` | ` + "`8080`" + ` | Port of /health and /readiness; see package hardening. |
| ` + "`PROFILING_PORT`" + ` | ` + "`8008`" + ` | Port of the profiler, which the ConfigMap config-observability turns on. |
| ` + "`METRICS_PROMETHEUS_PORT`" + ` | ` + "`9090`" + ` | Port of /metrics, which the ConfigMap config-observability turns on. |
| ` + "`CONFIG_LOGGING_NAME`, `CONFIG_LEADERELECTION_NAME`, `CONFIG_OBSERVABILITY_NAME`" + ` | the names above | Names of the ConfigMaps. |
| ` + "`K_THREADS_PER_CONTROLLER`" + ` | ` + "`2`" + ` | How many objects each controller reconciles at a time. The Deployment of the controller sets 8. |
| ` + "`KUBE_API_QPS`, `KUBE_API_BURST`" + ` | no limit | Limits of requests per second to the API server. |
| ` + "`KUBERNETES_MIN_VERSION`" + ` | that of knative.dev/pkg | The oldest version of Kubernetes with which a process starts. |
| ` + "`WEBHOOK_NAME`, `WEBHOOK_PORT`, `WEBHOOK_SECRET_NAME`" + ` | see the mains | Service, port and certificate Secret of a process that serves a webhook. |
| ` + "`HARDENING_OFF`" + ` | | Concerns of package hardening that are switched off, separated by commas. |
| ` + "`GOMEMLIMIT`" + ` | | Memory near which the Go runtime collects garbage more often, such as 256MiB. |
`

const flagsSection = `
## Flags

| flag | effect |
|---|---|
| ` + "`--disable-ha`" + ` | reconciles without leader election |
| ` + "`--kubeconfig`, `--cluster`, `--server`" + ` | select the API server of a process outside of a cluster |
| ` + "`--kube-api-qps`, `--kube-api-burst`" + ` | limit the requests to the API server |
| ` + "`--add_dir_header`, `--alsologtostderr`, `--log_backtrace_at`, `--log_dir`, `--log_file`, `--log_file_max_size`, `--logtostderr`, " +
	"`--one_output`, `--skip_headers`, `--skip_log_headers`, `--stderrthreshold`, `--v`, `--vmodule`" +
	` | configure klog, with which client-go logs; the log of the operator does not depend on them. Levels are at most 7: from 8 on, client-go logs objects, also the values of Secrets |
`

// configurationPage returns the page of ConfigMaps, environment variables and flags.
func configurationPage(root string) (string, error) {
	paths, err := filepath.Glob(filepath.Join(root, "config", "config-*.yaml"))
	if err != nil {
		return "", fmt.Errorf("finding ConfigMaps: %w", err)
	}
	var page strings.Builder
	page.WriteString(configurationIntro)
	for _, file := range paths {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("reading ConfigMaps: %w", err)
		}
		section, err := configMapSection(content, filepath.Base(file))
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", file, err)
		}
		page.WriteString(section)
	}
	variables, err := variablesSection(root)
	return page.String() + "\n## Environment variables\n" + variables + commonVariables + flagsSection, err
}

// example matches a line of _example that sets a key: a key that has no default is commented out.
var example = regexp.MustCompile(`^(# )?([a-z][a-zA-Z0-9.-]*): (.+)$`)

// configMapSection returns the section of a ConfigMap. The keys of a paragraph of its _example share the comment of the paragraph. A
// comment without a key describes the ConfigMap, or a combination of keys after "Together: ".
func configMapSection(content []byte, file string) (string, error) {
	var m struct {
		Metadata struct{ Name string }
		Data     map[string]string
	}
	if err := yaml.Unmarshal(content, &m); err != nil {
		return "", fmt.Errorf("parsing: %w", err)
	}
	var rows, combinations [][]string
	var text strings.Builder
	fmt.Fprintf(&text, "\n### %s\n\n", m.Metadata.Name)
	for paragraph := range strings.SplitSeq(m.Data["_example"], "\n\n") {
		description, valid, keys := readParagraph(paragraph)
		if strings.HasPrefix(paragraph, "####") {
			continue
		}
		if combination, ok := strings.CutPrefix(description, "Together: "); ok {
			accepted, rejected, _ := strings.Cut(valid, " Invalid: ")
			rejected = strings.ReplaceAll(rejected, " Invalid: ", "` `")
			combinations = append(combinations, []string{strings.TrimSuffix(combination, "."), code(accepted), code(rejected)})
		} else if len(keys) == 0 && description != "" {
			text.WriteString(description + "\n\n")
		}
		for _, key := range keys {
			installed := ""
			if value, ok := m.Data[key[0]]; ok {
				installed = code(value)
			}
			if strings.HasPrefix(key[1], "|") {
				key[1] = fmt.Sprintf("[JSON](../../config/%s)", file)
			}
			rows = append(rows, []string{code(key[0]), key[1], installed, strings.TrimSuffix(valid, "."), description})
		}
	}
	if len(rows) == 0 {
		return "", errors.New("the ConfigMap has no key in _example")
	}
	text.WriteString(table([]string{"key", "default", "installed", "valid values", "description"}, rows))
	if len(combinations) > 0 {
		text.WriteString("\n" + table([]string{"combination", "accepted", "rejected"}, combinations))
	}
	return text.String(), nil
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

// variable is a field of a struct of settings.
type variable struct{ name, defaulted, typ, description string }

// variablesSection returns the sections of the variables that programs and packages declare.
func variablesSection(root string) (string, error) {
	files, err := sources(root, "cmd", "crud", "pkg", "confidential")
	if err != nil {
		return "", err
	}
	structs, rules := make(map[string][]variable), make(map[string]string)
	for _, file := range files {
		ast.Inspect(file.File, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.TypeSpec:
				if s, ok := node.Type.(*ast.StructType); ok {
					if of := variables(s); len(of) > 0 {
						structs[file.path+" "+node.Name.Name] = of
					}
				}
			case *ast.FuncDecl:
				if node.Name.Name == "Decode" && node.Recv != nil {
					rules[receiver(node)] = ruleOf(node)
				}
			}
			return true
		})
	}
	var text strings.Builder
	names := slices.Sorted(maps.Keys(structs))
	for _, name := range names {
		file, _, _ := strings.Cut(name, " ")
		var rows [][]string
		for _, v := range structs[name] {
			rows = append(rows, []string{code(v.name), v.defaulted, rules[v.typ], v.description})
		}
		folder := path.Dir(file)
		title := "Program " + path.Base(folder)
		if !strings.HasPrefix(folder, "cmd/") {
			title = "Processes with package " + folder
		}
		fmt.Fprintf(&text, "\n### %s\n\n%s", title, table([]string{"variable", "default", "valid values", "description"}, rows))
	}
	return text.String(), nil
}

// variables returns the fields of a struct that have a variable.
func variables(s *ast.StructType) []variable {
	var found []variable
	for _, f := range s.Fields.List {
		if f.Tag == nil {
			continue
		}
		text, err := strconv.Unquote(f.Tag.Value)
		if err != nil {
			continue
		}
		tag := reflect.StructTag(text)
		name, ok := tag.Lookup("envconfig")
		if !ok {
			continue
		}
		v := variable{name: name, defaulted: code(tag.Get("default")), description: sentence(tag.Get("desc"))}
		if tag.Get("required") != "" {
			v.defaulted = "(required)"
		}
		switch typ := f.Type.(type) {
		case *ast.Ident:
			v.typ = typ.Name
		case *ast.SelectorExpr:
			v.typ = typ.Sel.Name
		}
		found = append(found, v)
	}
	return found
}

// receiver returns the name of the type whose method a function is.
func receiver(f *ast.FuncDecl) string {
	if pointer, ok := f.Recv.List[0].Type.(*ast.StarExpr); ok {
		if name, ok := pointer.X.(*ast.Ident); ok {
			return name.Name
		}
	}
	return ""
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
