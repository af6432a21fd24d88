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
	const many, tested = 2000, 10
	c, apis := expectRandom(t, many)
	c.write(apis[:tested])
	t.Setenv("MALLARD_TEST_INPUTS", "20")
	for i := range tested {
		if err := run("./"+folder(i)+"/v1beta1", "./"+folder(i)+"/v1"); err != nil {
			if isAboutOneVersion(err) {
				continue
			}
			t.Fatal(err)
		}
		mustGo(t, "test", "-vet=off", "./"+folder(i)+"/...")
	}
}
