//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generate

import "testing"

// The generated tests of random types pass.
func TestRun_ManyRandomTypes_CompileAndPass(t *testing.T) {
	project(t)
	const many, tested = 2000, 60
	c, apis := expectRandom(t, many)
	apis = apis[:min(len(apis), tested)]
	c.write(apis)
	t.Setenv("MALLARD_TEST_INPUTS", "20")
	var versions, tests []string
	for i := range apis {
		versions = append(versions, "./"+folder(i)+"/v1beta1", "./"+folder(i)+"/v1")
		tests = append(tests, "./"+folder(i)+"/...")
	}
	mustRun(t, versions...)
	mustGo(t, append([]string{"test", "-vet=off"}, tests...)...)
}
