/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package freshness keeps a reconciler from working on an object that its cache
// holds in a state from before the reconciler's own last write.
//
// A pass that writes the status is often followed by another one at once, because
// something else about the object changed meanwhile. If the watch has not yet
// delivered the write, that pass sees the old status, writes the new one once
// more, and meets a conflict; the generated reconciler of knative.dev/pkg then reads
// and writes again. Nothing is lost by leaving such a pass out: the event of the own
// write is on its way and brings another one.
//
// A reconciler that counts objects which it makes has more to lose: on a cache that lacks its last write it would make
// one too many, or delete one too many. Children remembers these writes until the cache has them, however late its watch is.
//
// Staleness of caches in respect of what others write is not its job; a reconciler has to tolerate that.
package freshness
