/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/observe"
)

// journal records events as text.
type journal struct {
	mu      sync.Mutex
	entries []string
}

// record returns a handler that records events.
func (j *journal) record(_ context.Context, e observe.Event[*corev1.ConfigMap]) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, textOf(e))
	return nil
}

// textOf describes an event.
func textOf(e observe.Event[*corev1.ConfigMap]) string {
	text := fmt.Sprintf("%v %s", e.Type, e.Name.Name)
	if e.Old != nil && e.Type == observe.Updated {
		text += fmt.Sprintf(" %s→%s", e.Old.Data["value"], e.Object.Data["value"])
	}
	switch {
	case e.InInitialList:
		text += " listed"
	case e.Resync:
		text += " resync"
	case e.FinalStateUnknown:
		text += " unknown"
	}
	return text
}

func (j *journal) read() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.entries)
}

// await waits until the journal has exactly these entries; those of different objects may be in any order.
func (j *journal) await(t *testing.T, want ...string) {
	t.Helper()
	harness.Eventually(t, "the events "+strings.Join(want, ", "), func(context.Context) error {
		if got := j.read(); !slices.Equal(byObject(got), byObject(want)) {
			return fmt.Errorf("they are %q", got)
		}
		return nil
	})
}

// byObject sorts entries by their objects, whose events stay in order.
func byObject(entries []string) []string {
	entries = slices.Clone(entries)
	slices.SortStableFunc(entries, func(a, b string) int { return strings.Compare(strings.Fields(a)[1], strings.Fields(b)[1]) })
	return entries
}

// state is which state of an object an observer has received.
type state struct {
	uid     types.UID
	version string
}

// ledger holds the state that an observer knows. It fails the test if an event contradicts those before it.
type ledger struct {
	// during is called in each call, if it is set.
	during func(observe.Event[*corev1.ConfigMap])

	mu      sync.Mutex
	calling map[string]bool
	// known are the objects that exist, and versions the newest states of all objects.
	known         map[string]state
	versions      map[string]string
	calls, folded int
	mistakes      []string
}

func newLedger() *ledger {
	return &ledger{calling: map[string]bool{}, known: map[string]state{}, versions: map[string]string{}}
}

// enter is the handler of the observer.
func (l *ledger) enter(_ context.Context, e observe.Event[*corev1.ConfigMap]) error {
	l.begin(e)
	if l.during != nil {
		l.during(e)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calling[e.Name.Name] = false
	return nil
}

func (l *ledger) begin(e observe.Event[*corev1.ConfigMap]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	name, version := e.Name.Name, e.Object.ResourceVersion
	known, exists := l.known[name]
	order := 1
	if before, ok := l.versions[name]; ok {
		order, _ = resourceversion.CompareResourceVersion(version, before)
	}
	switch {
	case l.calling[name]:
		l.mistakes = append(l.mistakes, "there are two calls at a time for "+textOf(e))
	case exists == (e.Type == observe.Added), exists && known.uid != e.Object.UID, exists && known.version != e.Old.ResourceVersion:
		l.mistakes = append(l.mistakes, fmt.Sprintf("%s of UID %s follows %+v", textOf(e), e.Object.UID, known))
	case order < 0, order == 0 && !e.FinalStateUnknown:
		l.mistakes = append(l.mistakes, fmt.Sprintf("%s at %s follows version %s", textOf(e), version, l.versions[name]))
	}
	l.calling[name], l.versions[name], l.known[name] = true, version, state{e.Object.UID, version}
	if e.Type == observe.Deleted {
		delete(l.known, name)
	}
	l.calls, l.folded = l.calls+1, l.folded+e.Folded
}

// await waits until the observer knows the objects that exist, as they are.
func (l *ledger) await(t *testing.T, s *scene) {
	t.Helper()
	list, err := s.kube.CoreV1().ConfigMaps(s.ns).List(t.Context(), metav1.ListOptions{LabelSelector: "it"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, object := range list.Items {
		want[object.Name] = object.ResourceVersion
	}
	harness.Eventually(t, fmt.Sprintf("the observer knows all %d objects as they are", len(want)), func(context.Context) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		got := map[string]string{}
		for name, object := range l.known {
			got[name] = object.version
		}
		if !maps.Equal(got, want) {
			return fmt.Errorf("it knows %d objects: %v, want %v", len(got), got, want)
		}
		return nil
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.mistakes) > 0 {
		t.Errorf("the observer received events that contradict those before them, for example: %q", l.mistakes[:min(len(l.mistakes), 5)])
	}
}
