/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package words

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/test/harness"
)

// Stream creates published objects, one after the other, until it is stopped.
type Stream struct{ load *harness.Load }

// StartStream applies Target in a namespace and creates an object there once a period.
func StartStream(t testing.TB, env *harness.Env, namespace string, period time.Duration) *Stream {
	t.Helper()
	env.Apply(t, namespace, Target)
	objects := env.Samples.SamplesV1().AddressableServices(namespace)
	return &Stream{harness.Every(t, period, func(ctx context.Context, n int) error {
		_, err := objects.Create(ctx, Published(namespace, nameOf(n)), metav1.CreateOptions{})
		return err
	})}
}

// nameOf is the name of the n-th object of a stream.
func nameOf(n int) string { return fmt.Sprintf("o%04d", n) }

// Made returns how many objects the stream has created.
func (s *Stream) Made() int { return s.load.Done() }

// AwaitMore waits until n more objects have been made.
func (s *Stream) AwaitMore(t testing.TB, n int) {
	t.Helper()
	want := s.load.Done() + n
	harness.Eventually(t, "more objects are made", func(context.Context) error {
		if made := s.load.Done(); made < want {
			return fmt.Errorf("there are %d of %d", made, want)
		}
		return nil
	})
}

// Stop ends the stream and returns the names of what it has made. It fails the test if an object could not be created.
func (s *Stream) Stop(t testing.TB) []string {
	t.Helper()
	made, failures := s.load.Stop()
	for _, err := range failures {
		t.Errorf("creating an object: %v", err)
	}
	var names []string
	for _, n := range made {
		names = append(names, nameOf(n))
	}
	return names
}
