/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import "testing"

// missed changes objects while the process cannot see it, and expects that observers receive once what has changed.
func missed(t *testing.T, s *scene, interrupt func(change func())) {
	t.Helper()
	for _, name := range []string{"changed", "deleted", "recreated", "untouched"} {
		s.create(t, name, "1")
	}
	s.settle(t, 4)
	journals := map[string]*journal{}
	want := []string{"Added changed listed", "Added deleted listed", "Added recreated listed", "Added untouched listed"}
	for name, o := range ways {
		journals[name] = &journal{}
		s.subscribe(t, name, journals[name].record, o)
		journals[name].await(t, want...)
	}
	s.update(t, "changed", "2")
	want = append(want, "Updated changed 1→2")
	for _, j := range journals {
		j.await(t, want...)
	}
	interrupt(func() {
		s.update(t, "changed", "3")
		s.delete(t, "deleted")
		s.delete(t, "recreated")
		s.create(t, "recreated", "2")
		s.create(t, "created", "2")
	})
	want = append(want, "Added created", "Updated changed 2→3", "Deleted deleted unknown", "Deleted recreated unknown", "Added recreated")
	for _, j := range journals {
		j.await(t, want...)
	}
	// What follows is delivered, and nothing of the above again.
	s.delete(t, "untouched")
	for _, j := range journals {
		j.await(t, append(want, "Deleted untouched")...)
	}
}

func TestObserver_WatchExpires_DeliversWhatWasMissedOnce(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		missed(t, s, func(change func()) { s.interrupt(t, change) })
	})
}
