//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// follow returns the values of the objects that an observer knows after some events, and an error for an event that does not follow from those
// before it. The value of an object that has not been updated is empty.
func follow(events []string) (map[string]string, error) {
	values := map[string]string{}
	for i, event := range events {
		fields := strings.Fields(event)
		kind, name := fields[0], fields[1]
		value, exists := values[name]
		old, now := value, ""
		if kind == "Updated" {
			old, now, _ = strings.Cut(fields[2], "→")
		}
		if exists == (kind == "Added") || value != "" && value != old {
			return values, fmt.Errorf("event %d, %q, does not follow from %q", i, event, events[:i])
		}
		if values[name] = now; kind == "Deleted" {
			delete(values, name)
		}
	}
	return values, nil
}

// awaitValue waits until an observer knows exactly these objects, and their last value.
func (r *replica) awaitValue(t *testing.T, observer, value string, objects []string) {
	t.Helper()
	harness.EventuallyWithin(t, 2*harness.Deadline, fmt.Sprintf("observer %s knows value %s of %q", observer, value, objects), func(context.Context) error {
		values, err := follow(r.received(observer))
		for _, name := range objects {
			if values[name] != value {
				err = errors.Join(err, fmt.Errorf("it knows value %q of %s", values[name], name))
			}
		}
		if len(values) != len(objects) {
			err = errors.Join(err, fmt.Errorf("it knows %v", values))
		}
		return err
	})
}

// keepChanging changes objects until stop is called.
func (s *scene) keepChanging(t *testing.T, objects []string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var writing errgroup.Group
	writing.Go(func() error {
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		for change := 2; ; change++ {
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C:
			}
			if err := s.tryUpdate(context.WithoutCancel(ctx), objects[change%len(objects)], strconv.Itoa(change)); err != nil {
				return err
			}
		}
	})
	return func() {
		cancel()
		if err := writing.Wait(); err != nil {
			t.Error(err)
		}
	}
}

func TestReplicas_LeaderIsKilledWhileObjectsChange_TheNextReceivesEachObjectOnce(t *testing.T) {
	eachOperator(t, func(t *testing.T, o *operator) {
		var names, listed []string
		for i := range 10 {
			names = append(names, strconv.Itoa(i))
			listed = append(listed, fmt.Sprintf("Added %d listed", i))
			o.create(t, names[i], "1")
		}
		o.settle(t, len(names))
		first := o.start(t, "first")
		first.await(t, "leading", listed...)
		second := o.start(t, "second")
		second.await(t, "everywhere", listed...)
		stop := o.keepChanging(t, names[1:])
		harness.Eventually(t, "the leader receives changes", func(context.Context) error {
			if n := len(first.received("leading")); n < 3*len(names) {
				return fmt.Errorf("it has received %d", n)
			}
			return nil
		})
		if err := first.group.Kill(); err != nil {
			t.Fatal(err)
		}
		<-first.group.Done()
		if got := second.received("leading"); len(got) != 0 {
			t.Errorf("while the other replica led, the second received %q", got)
		}
		// Between two leaders, one object is deleted and one is created.
		o.delete(t, names[0])
		o.create(t, "new", "1")
		live := append(slices.Clone(names[1:]), "new")
		harness.EventuallyWithin(t, 2*harness.Deadline, "the second replica leads", func(context.Context) error {
			if n := len(second.received("leading")); n < 3*len(live) {
				return fmt.Errorf("it has received %d events", n)
			}
			return nil
		})
		stop()
		for _, name := range live {
			o.update(t, name, "last")
		}
		second.awaitValue(t, "everywhere", "last", live)
		second.awaitValue(t, "leading", "last", live)
		for _, event := range second.received("leading") {
			if strings.HasPrefix(event, "Added") != strings.HasSuffix(event, " listed") || strings.HasPrefix(event, "Deleted") {
				t.Errorf("the second leader received %q, want objects in the initial list, and updates", event)
			}
		}
	})
}
