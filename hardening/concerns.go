/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Variable is the environment variable that switches concerns off, separated by commas.
const Variable = "HARDENING_OFF"

// concern is one weakness of knative.dev/pkg, and what this package does about it.
type concern string

const (
	limits     concern = "limits"     // each client of a process is limited to 5 requests per second and constructor
	panics     concern = "panics"     // a panic in a reconciler or a handler ends the process
	backoff    concern = "backoff"    // a failing object is repeated at once by each event, and after up to 17 minutes without one
	postponing concern = "postponing" // a reconciliation that begins before the cache has its own last write meets a conflict
	references concern = "tracker"    // the tracker keeps every reference that an object ever had
	tombstones concern = "tombstones" // the filters of package controller drop deletions that a watch has missed
	ducks      concern = "ducks"      // one object that does not fit a duck type blocks the workers of all others
	stopping   concern = "stopping"   // at SIGTERM, leases are released while reconciliations are still running, and a webhook under load does not end
	ports      concern = "ports"      // a process that cannot listen on a port runs on without the part that needs it, and exits with 0
	probes     concern = "probes"     // readiness does not reflect the caches, and ends before the process does
	requests   concern = "requests"   // the webhook logs each request with all headers; broken connections and Events of deleted namespaces are errors
	attributes concern = "attributes" // each path and header Host that any client sends to the webhook remains in its metrics
	configmaps concern = "configmaps" // the errors of invalid ConfigMaps at the start name neither the ConfigMap nor the key
	retries    concern = "retries"    // for a response with Retry-After, client-go sleeps in the worker, and repeats the request up to ten times
	secrets    concern = "secrets"    // client-go logs bodies of requests, from level 8 on, and warnings that may quote Secrets
	fields     concern = "fields"     // defaulting removes fields of later releases, and rejects wrong types before the schema can name them
	// registration is about kube-apiserver: it keeps an old webhook configuration, indefinitely, if two of them change at the same moment
	registration concern = "registration"
	renewals     concern = "renewals" // a leader writes its leases as often as a standby, which is to replace it soon, reads them
)

var concerns = []concern{
	limits, panics, backoff, postponing, references, tombstones, ducks, stopping, ports, probes, requests, attributes, configmaps, retries, secrets,
	fields, registration, renewals,
}

// parseOff returns the concerns that the environment variable switches off.
func parseOff(value string) (map[concern]bool, error) {
	off := map[concern]bool{}
	for name := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		c := concern(name)
		if !slices.Contains(concerns, c) {
			return nil, fmt.Errorf("environment variable %s: there is no concern %q; there are: %v", Variable, c, concerns)
		}
		off[c] = true
	}
	return off, nil
}
