/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
)

// Variable is the environment variable that switches concerns off, separated by commas.
const Variable = "HARDENING_OFF"

// concern is one weakness of knative.dev/pkg, and what this package does about it.
type concern string

const (
	// limits: each client of a process is limited to 5 requests per second and constructor.
	limits concern = "limits"
	// panics: a panic in a reconciler or a handler ends the process.
	panics concern = "panics"
	// backoff: a failing object is repeated at once by each event, and after up to 17 minutes without one.
	backoff concern = "backoff"
	// postponing: a reconciliation that begins before the cache has its own last write meets a conflict.
	postponing concern = "postponing"
	// references: the tracker keeps every reference that an object ever had.
	references concern = "tracker"
	// tombstones: the filters of package controller drop deletions that a watch has missed.
	tombstones concern = "tombstones"
	// ducks: one object that does not fit a duck type blocks the workers of all others.
	ducks concern = "ducks"
	// stopping: at SIGTERM, leases are released while reconciliations are still running, and a webhook under load does not end.
	stopping concern = "stopping"
	// ports: a process whose port is taken runs on without the part that needs it, and exits with 0.
	ports concern = "ports"
	// probes: readiness does not reflect the caches, and ends before the process does.
	probes concern = "probes"
	// requests: the webhook logs each request with all headers, and each broken connection as an error.
	requests concern = "requests"
	// configmaps: the errors of invalid ConfigMaps at the start name neither the ConfigMap nor the key.
	configmaps concern = "configmaps"
	// retries: for a response with Retry-After, client-go sleeps in the worker, and repeats the request up to ten times.
	retries concern = "retries"
	// secrets: client-go logs bodies of requests, from level 8 on, and warnings about Secrets.
	secrets concern = "secrets"
	// fields: defaulting removes fields of later releases, and rejects wrong types before the schema can name them.
	fields concern = "fields"
)

var concerns = []concern{limits, panics, backoff, postponing, references, tombstones, ducks, stopping, ports, probes, requests,
	configmaps, retries, secrets, fields}

// parseOff returns the concerns that the environment variable switches off.
func parseOff(value string) (map[concern]bool, error) {
	off := map[concern]bool{}
	for name := range strings.SplitSeq(value, ",") {
		c := concern(strings.TrimSpace(name))
		switch {
		case c == "":
		case !slices.Contains(concerns, c):
			return nil, fmt.Errorf("environment variable %s: there is no concern %q; there are: %s", Variable, c, join(concerns))
		default:
			off[c] = true
		}
	}
	return off, nil
}

func join(concerns []concern) string {
	names := make([]string, len(concerns))
	for i, c := range concerns {
		names[i] = string(c)
	}
	return strings.Join(names, ", ")
}

// readOff ends the process if the variable is invalid, as sharedmain does for its own.
func readOff() map[concern]bool {
	off, err := parseOff(os.Getenv(Variable))
	if err != nil {
		log.Fatal(err)
	}
	return off
}
