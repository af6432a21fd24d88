/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package telemetry

import (
	"slices"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
)

// Bounds of what is remembered. An object that waits costs some hundred bytes.
const (
	// maxKeys is for how many objects causes are remembered at a time, which is as many as wait in the queue.
	maxKeys = 1 << 16
	// maxCauses is how many different causes of one pass are named. Further ones are counted.
	maxCauses = 8
)

// memory holds why the objects wait that do. It may be used by several goroutines.
type memory struct {
	keys, causes int

	mu sync.Mutex
	// noted is what was told since the object's last pass began.
	noted map[types.NamespacedName]*woken
	// planned is the wake that the last pass left behind, which may be due much later. It is apart since events in between
	// lead to passes of their own. One that such an event has overtaken stays behind, and nothing tells which these are.
	planned *lru.Cache
}

// woken is everything that woke one pass.
type woken struct {
	causes []repeated
	// more counts what is not in causes.
	more int
}

type repeated struct {
	cause Cause
	times int
}

func newMemory(keys, causes int) *memory {
	return &memory{keys: keys, causes: causes, noted: map[types.NamespacedName]*woken{}, planned: lru.New(keys)}
}

// note must come before the object is put into the queue.
func (m *memory) note(key types.NamespacedName, cause Cause) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w, ok := m.noted[key]
	if !ok {
		if len(m.noted) >= m.keys {
			// Such a pass has another cause than it says. Waiting objects leave soon.
			return
		}
		w = &woken{}
		m.noted[key] = w
	}
	w.add(cause, m.causes)
}

func (w *woken) add(cause Cause, limit int) {
	i := slices.IndexFunc(w.causes, func(r repeated) bool { return r.cause == cause })
	switch {
	case i >= 0:
		w.causes[i].times++
	case len(w.causes) < limit:
		w.causes = append(w.causes, repeated{cause: cause, times: 1})
	default:
		w.more++
	}
}

// plan notes what a pass that has ended leaves behind.
func (m *memory) plan(key types.NamespacedName, cause Cause) { m.planned.Add(key, cause) }

// take returns why the pass that begins takes place, and forgets it.
func (m *memory) take(key types.NamespacedName) *woken {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w, ok := m.noted[key]; ok {
		delete(m.noted, key)
		return w
	}
	cause := Cause{What: Other}
	if planned, ok := m.planned.Get(key); ok {
		cause = planned.(Cause) //nolint:forcetypeassert // nothing else is planned
		m.planned.Remove(key)
	}
	return &woken{causes: []repeated{{cause: cause, times: 1}}}
}

// strings are for people, one for each cause: "updated Service default/target (3 times)".
func (w *woken) strings() []string {
	texts := make([]string, 0, len(w.causes)+1)
	for _, r := range w.causes {
		text := r.cause.String()
		if r.times > 1 {
			text += " (" + strconv.Itoa(r.times) + " times)"
		}
		texts = append(texts, text)
	}
	if w.more > 0 {
		texts = append(texts, strconv.Itoa(w.more)+" more")
	}
	return texts
}
