/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"io"
	"net/http"
	"os"
	"reflect"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"

	"knative.dev/pkg/system"
)

// renewal is the last renewal of a lease by this process, which may have been left out.
type renewal struct {
	lease coordinationv1.Lease
	at    time.Time
	// expires is the earliest time at which a standby takes the lease. A renewal that is left out does not change it.
	expires time.Time
}

// send sends a request, except for renewals of leases that are not needed yet. The retry period is short so that a standby notices a release soon, and
// the leader renews its leases as often. A renewal is left out if the leader would lose its leadership before the lease expires even if all later ones
// failed. The next one is due after a retry period, and another one is left to spare, in case that it is late.
func (t *transport) send(request *http.Request) (*http.Response, error) {
	// Each attempt of client-go ends with the renew deadline, unless the client has a timeout, which is in the query.
	deadline, limited := request.Context().Deadline()
	if t.process.off[renewals] || !limited || request.Method != http.MethodPut || request.GetBody == nil || request.URL.RawQuery != "" ||
		!strings.Contains(request.URL.Path, "/apis/coordination.k8s.io/v1/namespaces/"+os.Getenv(system.NamespaceEnvKey)+"/leases/") {
		return t.inner.RoundTrip(request) //nolint:wrapcheck // it is not ours
	}
	key, next := request.URL.String(), renewal{at: time.Now()}
	if reader, err := request.GetBody(); err == nil {
		body, _ := io.ReadAll(reader)
		// The clients of built-in kinds send protobuf. What cannot be decoded is a lease that expires at once.
		_, _, _ = scheme.Codecs.UniversalDeserializer().Decode(body, nil, &next.lease)
	}
	next.lease.ResourceVersion, next.lease.ManagedFields, next.lease.Spec.RenewTime = "", nil, nil // each write changes them
	known, _ := t.process.renewals.LoadAndDelete(key)
	if last, _ := known.(renewal); deadline.Add(2*next.at.Sub(last.at)).Before(last.expires) && reflect.DeepEqual(next.lease, last.lease) {
		next.expires = last.expires
		t.process.renewals.Store(key, next)
		header := http.Header{"Content-Type": request.Header["Content-Type"]}
		return &http.Response{StatusCode: http.StatusOK, Header: header, Body: request.Body, Request: request}, nil
	}
	response, err := t.inner.RoundTrip(request)
	if err == nil && response.StatusCode == http.StatusOK {
		next.expires = next.at.Add(time.Duration(ptr.Deref(next.lease.Spec.LeaseDurationSeconds, 0)) * time.Second)
		t.process.renewals.Store(key, next)
	}
	return response, err //nolint:wrapcheck // it is not ours
}
