/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// row is the line of the table for one object.
type row struct {
	namespace, name    string
	ready, reason, url string
}

var headings = row{namespace: "NAMESPACE", name: "NAME", ready: "READY", reason: "REASON", url: "URL"}

// newRow reads an object's Ready condition and its address in the form of the duck types: status.address.url, or
// status.url for what is its own address.
func newRow(resource string, object *unstructured.Unstructured) row {
	r := row{namespace: object.GetNamespace(), name: resource + "/" + object.GetName(), ready: "Unknown"}
	if ready, ok := readyCondition(object); ok {
		r.ready, r.reason = cmp.Or(ready.status, "Unknown"), ready.reason
	}
	if object.GetDeletionTimestamp() != nil {
		r.reason = "Deleting"
	}
	address, _, _ := unstructured.NestedString(object.Object, "status", "address", "url")
	url, _, _ := unstructured.NestedString(object.Object, "status", "url")
	r.url = cmp.Or(address, url)
	return r
}

// condition is one entry of status.conditions.
type condition struct{ kind, status, reason, message string }

func conditions(object *unstructured.Unstructured) []condition {
	list, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	var found []condition
	for _, entry := range list {
		fields, _ := entry.(map[string]any)
		text := func(name string) string { s, _ := fields[name].(string); return s }
		found = append(found, condition{text("type"), text("status"), text("reason"), text("message")})
	}
	return found
}

func readyCondition(object *unstructured.Unstructured) (condition, bool) {
	all := conditions(object)
	i := slices.IndexFunc(all, func(c condition) bool { return c.kind == "Ready" })
	if i < 0 {
		return condition{}, false
	}
	return all[i], true
}

// isReady reports whether an object is Ready as it is now, and not as it was before its last change.
func isReady(object *unstructured.Unstructured) bool {
	ready, ok := readyCondition(object)
	if !ok || ready.status != "True" {
		return false
	}
	observed, found, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
	return !found || observed == object.GetGeneration()
}

// table aligns rows under their headings.
func table(rows []row) []string {
	all := append([]row{headings}, rows...)
	width := func(text func(row) string) int {
		longest := 0
		for _, r := range all {
			longest = max(longest, len(text(r)))
		}
		return longest
	}
	namespace := width(func(r row) string { return r.namespace })
	name := width(func(r row) string { return r.name })
	reason := width(func(r row) string { return r.reason })
	var lines []string
	for _, r := range all {
		line := fmt.Sprintf("%-*s  %-*s  %-7s  %-*s  %s", namespace, r.namespace, name, r.name, r.ready, reason, r.reason, r.url)
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}

// key identifies the object, without a namespace if its kind has none.
func (r row) key() string { return path.Join(r.namespace, r.name) }

// line is one change for an output that is not a terminal.
func (r row) line(now time.Time) string {
	return strings.TrimRight(fmt.Sprintf("%s  %s  READY=%s  REASON=%s  URL=%s", now.Format(time.TimeOnly), r.key(), r.ready,
		cmp.Or(r.reason, "-"), cmp.Or(r.url, "-")), " ")
}
