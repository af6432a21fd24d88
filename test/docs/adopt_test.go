//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package docs

import (
	"testing"

	"github.com/mallard-dev/mallard/test/moduleproxy"
)

// The page about existing conversions takes Kueue from its hand-written conversions to generated ones. Kueue is what its module contains.
func TestProject_AdoptKueue_ConversionsAreComparedWithTheFormerOnes(t *testing.T) {
	_, environment := moduleproxy.New(t, root, "conversion", "conversion/controllerruntime", "conversion/cmd/assign-gen")
	r := &reader{dir: t.TempDir(), environment: environment, example: "conversion/zoo/testdata/kueue"}
	r.follow(t, "docs/how-to/adopt-generated-conversions.md", "test/docs:TestProject_AdoptKueue_ConversionsAreComparedWithTheFormerOnes")
}
