/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"

	"github.com/mallard-dev/mallard/localcluster/env/processes"
)

const (
	// faultLines is the number of last lines of a process that a diagnosis shows.
	faultLines = 15
	// searchedLines is the number of last lines of a log that are searched for the name of an object.
	searchedLines = 2000
	// diagnosisTimeout bounds the questions to an API server that may be the problem.
	diagnosisTimeout = 10 * time.Second
)

// diagnose describes the state of each object that is not Ready, and quotes the last log lines of the faulty process. It always returns an
// error.
func (r *session) diagnose(ctx context.Context, unready []*unstructured.Unstructured) error {
	ctx, cancel := context.WithTimeout(ctx, diagnosisTimeout)
	defer cancel()
	var out strings.Builder
	fmt.Fprintf(&out, "%d of %d samples not Ready within %v\n", len(unready), len(r.samples.own), r.options.timeout)
	for _, object := range unready {
		fmt.Fprintf(&out, "\n%s\n", name(object))
		out.WriteString(describeConditions(object))
		out.WriteString(r.describeEvents(ctx, object))
	}
	if r.env.Runner == nil {
		out.WriteString(r.env.DescribePods(ctx))
	}
	for _, p := range r.atFault(unready) {
		lines, err := tellingLines(p, unready)
		if err != nil {
			lines = []string{err.Error()}
		}
		state := "ready"
		if !p.Ready() {
			state = "not ready"
		}
		fmt.Fprintf(&out, "\nprocess %s (%s), last lines:\n%s", p.Name(), state, indent(lines))
	}
	return fmt.Errorf("%s", strings.TrimRight(out.String(), "\n")) //nolint:err113 // a text for people
}

func describeConditions(object *unstructured.Unstructured) string {
	if object.GetResourceVersion() == "" {
		return "  does not exist\n"
	}
	all := conditions(object)
	if len(all) == 0 {
		return "  has no conditions: not reconciled yet\n"
	}
	var out strings.Builder
	for _, c := range all {
		fmt.Fprintf(&out, "  condition %s=%s", c.kind, cmp.Or(c.status, "Unknown"))
		if c.reason != "" {
			fmt.Fprintf(&out, "  reason %s", c.reason)
		}
		if c.message != "" {
			fmt.Fprintf(&out, ": %s", c.message)
		}
		out.WriteByte('\n')
	}
	return out.String()
}

func (r *session) describeEvents(ctx context.Context, object *unstructured.Unstructured) string {
	kube, err := kubernetes.NewForConfig(r.env.Config)
	if err != nil {
		return "  events: " + err.Error() + "\n"
	}
	selector := fields.Set{"involvedObject.name": object.GetName(), "involvedObject.kind": object.GetKind()}.String()
	list, err := kube.CoreV1().Events(object.GetNamespace()).List(ctx, metav1.ListOptions{FieldSelector: selector})
	if err != nil {
		return "  events: " + err.Error() + "\n"
	}
	if len(list.Items) == 0 {
		return "  no events\n"
	}
	slices.SortFunc(list.Items, func(a, b corev1.Event) int { return a.LastTimestamp.Compare(b.LastTimestamp.Time) })
	var out strings.Builder
	for _, event := range list.Items {
		fmt.Fprintf(&out, "  event %s %s (%d times): %s\n", event.Type, event.Reason, max(event.Count, 1), event.Message)
	}
	return out.String()
}

// atFault picks the processes that a diagnosis quotes: those that are not ready, if there are any; else those whose log
// names one of the objects; else all. An operator that runs from images has none.
func (r *session) atFault(unready []*unstructured.Unstructured) []*processes.Process {
	if r.env.Runner == nil {
		return nil
	}
	all := r.env.Runner.Processes()
	keep := func(is func(*processes.Process) bool) []*processes.Process {
		return slices.DeleteFunc(slices.Clone(all), func(p *processes.Process) bool { return !is(p) })
	}
	if broken := keep(func(p *processes.Process) bool { return !p.Ready() }); len(broken) > 0 {
		return broken
	}
	if involved := keep(func(p *processes.Process) bool { return len(naming(p, unready)) > 0 }); len(involved) > 0 {
		return involved
	}
	return all
}

// tellingLines are the last lines of a process that name one of the objects, or if none does the last ones of all.
func tellingLines(p *processes.Process, objects []*unstructured.Unstructured) ([]string, error) {
	if lines := naming(p, objects); len(lines) > 0 && p.Ready() {
		return lines[max(len(lines)-faultLines, 0):], nil
	}
	return p.LastLines(faultLines)
}

func naming(p *processes.Process, objects []*unstructured.Unstructured) []string {
	lines, err := p.LastLines(searchedLines)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(lines, func(line string) bool {
		return !slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool {
			return strings.Contains(line, o.GetNamespace()+"/"+o.GetName())
		})
	})
}

func indent(lines []string) string {
	var out strings.Builder
	for _, line := range lines {
		out.WriteString("  | " + line + "\n")
	}
	return out.String()
}
