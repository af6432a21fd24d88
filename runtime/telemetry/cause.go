/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package telemetry

import "strings"

// What is what happened.
type What string

const (
	// Listed objects were there when the process began to watch, or when its watch began anew.
	Listed What = "listed"
	// Added objects were created while they were watched.
	Added What = "added"
	// Updated objects were changed.
	Updated What = "updated"
	// Deleted objects are gone.
	Deleted What = "deleted"
	// Resynced objects have not changed: their informer shows them again from time to time.
	Resynced What = "resynced"
	// Tracked is the tracker that woke an object: it has just begun to follow another one.
	Tracked What = "tracked"
	// Configured is a change of a config map.
	Configured What = "configured"
	// Served is a change in whether a kind can be discovered or read.
	Served What = "served"
	// Promoted is this process having become the leader.
	Promoted What = "promoted"
	// Requeued is the last pass having asked for another.
	Requeued What = "requeued"
	// Retried is the last pass having failed.
	Retried What = "retried"
	// Other is anything that this package was not told of.
	Other What = "other"
)

// Cause is what woke a reconciler. Only What is always set.
type Cause struct {
	What What
	// Source is the kind of the object that it happened to, or the name of the config map. It is a label of a metric, so
	// there must be few of them.
	Source string
	// Object is the object that it happened to, as namespace/name.
	Object string
}

// String is for people: "updated Service default/target".
func (c Cause) String() string {
	return strings.Join(strings.Fields(string(c.What)+" "+c.Source+" "+c.Object), " ")
}
