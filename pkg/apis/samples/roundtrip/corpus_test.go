/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package roundtrip

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// The corpus has objects as releases have written them, each at every version. What one release has written, every later one
// has to understand, and every earlier one that knows the versions has to carry: a file there is never changed, only added.
// Those of "later" are what a release to come might write.
func TestCorpus_ObjectsOfOtherReleases_Convert(t *testing.T) {
	files, err := filepath.Glob("testdata/corpus/*/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("the corpus has %d files: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var written map[string]json.RawMessage
			if err := json.Unmarshal(content, &written); err != nil {
				t.Fatal(err)
			}
			for _, from := range all {
				for _, to := range all {
					want := encode(t, written[to])
					expectSamef(t, want, converted(t, encode(t, written[from]), from, to), "%s at %s", from, to)
				}
			}
		})
	}
}
