/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cmd

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestHelp_EachVariableAndFlag_IsOnThePage(t *testing.T) {
	const path = "docs/reference/configuration.md"
	content, err := os.ReadFile("../" + path)
	if err != nil {
		t.Fatal(err)
	}
	flag := regexp.MustCompile(`(?m)^  -([a-z][a-z_-]*)`)
	for name, binary := range build(t) {
		t.Run(name, func(t *testing.T) {
			_, help := run(t, binary, nil, "--help")
			names := variablesOf(t, binary)
			for _, match := range flag.FindAllStringSubmatch(help, -1) {
				names = append(names, "--"+match[1])
			}
			for _, name := range names {
				if !strings.Contains(string(content), "`"+name+"`") {
					t.Errorf("%s lacks %s", path, name)
				}
			}
			if !strings.Contains(help, "  -kubeconfig") {
				t.Errorf("--help lists no flags:\n%s", help)
			}
		})
	}
}
