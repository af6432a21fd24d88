/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package repository

import (
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"
)

// mutantHeader matches the lines before the diff of a patch: the fault, the tier whose tests find it, and the command that runs the one that does.
var mutantHeader = regexp.MustCompile(`\AFault: [A-Z].*\.\nTier: (test|nightly)\n` +
	`Found by: go (?:-C (\S+) )?test (-tags nightly )?\.(?:/(\S+))? -run '\^(Test\w+)\$[^']*'\n\ndiff --git `)

// TestMutants_EachPatch_AppliesAndNamesAnExistingTest finds stale patches without running hack/mutants.sh, which takes long.
func TestMutants_EachPatch_AppliesAndNamesAnExistingTest(t *testing.T) {
	for _, patch := range files(t, "hack/mutants/*") {
		t.Run(path.Base(patch), func(t *testing.T) {
			header := mutantHeader.FindStringSubmatch(read(t, patch))
			if header == nil {
				t.Fatalf("%s does not begin with the lines Fault, Tier and Found by, which match %s", patch, mutantHeader)
			}
			check := exec.CommandContext(t.Context(), "git", "apply", "--check", patch)
			check.Dir = root
			if out, err := check.CombinedOutput(); err != nil {
				t.Errorf("%s does not apply: %v\n%s", patch, err, out)
			}
			isNightly := header[1] == "nightly"
			if isNightly != (header[3] != "") {
				t.Errorf("%s: commands have -tags nightly in the tier nightly, and only there", patch)
			}
			folder, test := path.Join(header[2], header[4]), header[5]
			declaration := "func " + test + "(t *testing.T)"
			for _, file := range files(t, folder+"/*_test.go") {
				content := read(t, file)
				if path.Dir(file) == folder && strings.Contains(content, declaration) {
					if strings.HasPrefix(content, "//go:build nightly\n") && !isNightly {
						t.Errorf("%s: %s is a nightly test, since %s has the tag", patch, test, file)
					}
					return
				}
			}
			t.Errorf("%s: the package in %s has no test %s", patch, folder, test)
		})
	}
}
