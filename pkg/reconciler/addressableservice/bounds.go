/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"encoding/json"
	"net/url"

	"k8s.io/utils/ptr"

	duckv1 "knative.dev/pkg/apis/duck/v1"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/runtime/failures"
)

// Bounds of an address in the status: those of the CRD's schema, but for the
// certificates, which every address of an object repeats.
const (
	maxURL      = 8192
	maxCACerts  = 65536
	maxAudience = 2048

	// maxStatus bounds the encoded addresses. etcd stores no object of more than 1.5 MiB, and
	// one character may take six bytes in JSON.
	maxStatus = 1280 << 10
)

// checkBounds rejects addresses of the target that do not fit into our status. The target's
// own schema may allow them, and the API server would then reject every status update.
func checkBounds(ref v1.TargetReference, addresses []duckv1.Addressable) *failures.Failure {
	unusable := func(field string, most int) *failures.Failure {
		return failures.Newf(v1.ReasonTargetNotAddressable, "the address of %s is unusable: its %s is longer than %d characters", ref, field, most)
	}
	for _, a := range addresses {
		text := a.URL.String()
		// The schema's format uri is what this function accepts, which is less than url.Parse does.
		_, err := url.ParseRequestURI(text)
		switch {
		case err != nil:
			return failures.Newf(v1.ReasonTargetNotAddressable, "the address of %s is unusable: its URL %q is not a URI", ref, text)
		case len(text) > maxURL:
			return unusable("url", maxURL)
		case len(ptr.Deref(a.CACerts, "")) > maxCACerts:
			return unusable("CACerts", maxCACerts)
		case len(ptr.Deref(a.Audience, "")) > maxAudience:
			return unusable("audience", maxAudience)
		}
	}
	encoded, err := json.Marshal(duckv1.AddressStatus{Address: &addresses[0], Addresses: addresses})
	if err != nil || len(encoded) > maxStatus {
		return failures.Newf(v1.ReasonTargetNotAddressable, "the address of %s is unusable: %d copies of it take more than %d KiB as JSON",
			ref, len(addresses)+1, maxStatus>>10)
	}
	return nil
}
