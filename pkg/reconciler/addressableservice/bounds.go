/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"k8s.io/utils/ptr"

	duckv1 "knative.dev/pkg/apis/duck/v1"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/problem"
)

// Bounds of an address in the status: those of the CRD's schema, but for the
// certificates, which every one of the addresses repeats, and the API server takes
// no object of more than 1.5 MiB.
const (
	maxURL      = 8192
	maxCACerts  = 65536
	maxAudience = 2048
)

// checkBounds refuses an address of the target's that the schema of our status would
// refuse. The target's own schema may allow it, and the API server would then refuse
// our whole status, again and again.
func checkBounds(ref v1.TargetReference, a duckv1.Addressable) *problem.Problem {
	for _, field := range []struct {
		name   string
		length int
		most   int
	}{
		{"url", len(a.URL.String()), maxURL},
		{"CACerts", len(ptr.Deref(a.CACerts, "")), maxCACerts},
		{"audience", len(ptr.Deref(a.Audience, "")), maxAudience},
	} {
		if field.length > field.most {
			return problem.Newf(v1.ReasonTargetNotAddressable, "the address of %s is unusable: its %s is longer than %d characters",
				ref, field.name, field.most)
		}
	}
	return nil
}
