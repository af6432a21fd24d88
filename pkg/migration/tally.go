/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package migration

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.uber.org/zap"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// hopeless is after how many objects in a row that could not be written within their tries a run gives up: it is the
// server then, or a webhook, and not the objects.
const hopeless = 3

// tally counts what happens to objects, and says so every so many of them. Pages are listed while objects of earlier
// ones are written, so it has a lock.
type tally struct {
	log   *zap.SugaredLogger
	every int

	mu sync.Mutex
	// doing is what is done to each object at present.
	doing          string
	seen, listed   int
	left           int64
	moved, cleaned int
	gone           int
	inARow         int
	failures       []*ObjectError
	failed         map[types.NamespacedName]bool
}

func newTally(log *zap.SugaredLogger, every int) *tally {
	return &tally{log: log, every: every, failed: map[types.NamespacedName]bool{}}
}

// begin starts counting objects anew, for the next thing that is done to all of them.
func (t *tally) begin(doing string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.doing, t.seen, t.listed, t.left = doing, 0, 0, 0
}

// page takes note of how many objects a list had and how many are still to come, which is nil when the server does not say.
func (t *tally) page(n int, remaining *int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.listed, t.left = t.listed+n, 0
	if remaining != nil {
		t.left = *remaining
	}
}

// hasFailed says whether an object has failed already.
func (t *tally) hasFailed(object types.NamespacedName) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed[object]
}

// note takes note of one object: wrote says what to count if err is nil. It returns an error only if there is no use in
// going on with the others.
func (t *tally) note(object types.NamespacedName, wrote *int, err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen++
	if t.seen%t.every == 0 {
		t.log.Infow(t.doing, "done", t.seen, "of", int64(t.listed)+t.left, "failed", len(t.failures))
	}
	exhausted, isExhausted := errors.AsType[*exhaustedError](err)
	interrupted, isInterrupted := errors.AsType[*interruptedError](err)
	switch {
	case err == nil:
		if wrote != nil {
			*wrote++
		}
	case isInterrupted:
		return interrupted
	case apierrors.IsNotFound(err):
		t.gone++
	default:
		t.failures, t.failed[object] = append(t.failures, &ObjectError{object, err}), true
	}
	if !isExhausted {
		t.inARow = 0
		return nil
	}
	if t.inARow++; t.inARow == hopeless {
		return fmt.Errorf("gave up after %d objects in a row, and tried no others: %w", hopeless, exhausted)
	}
	return nil
}

// ObjectError is why one object is not as it should be.
type ObjectError struct {
	// Object is its namespace, empty if its kind has none, and name.
	Object types.NamespacedName
	Err    error
}

// Error implements error.
func (e *ObjectError) Error() string {
	return strings.TrimPrefix(e.Object.String(), "/") + ": " + e.Err.Error()
}

// Unwrap gives the API server's error.
func (e *ObjectError) Unwrap() error { return e.Err }

// shown bounds how many objects the text of an ObjectsError names; the log has them all.
const shown = 10

// ObjectsError is that some objects are not as they should be. All others are.
type ObjectsError []*ObjectError

// Error implements error.
func (e ObjectsError) Error() string {
	var texts []string
	for _, object := range e[:min(len(e), shown)] {
		texts = append(texts, object.Error())
	}
	text := fmt.Sprintf("%d objects could not be written, so that status.storedVersions is left as it is: %s", len(e), strings.Join(texts, "; "))
	if len(e) > shown {
		text += fmt.Sprintf("; and %d more, which the log names", len(e)-shown)
	}
	return text
}

// Unwrap gives the errors of each object.
func (e ObjectsError) Unwrap() []error {
	var all []error
	for _, object := range e {
		all = append(all, object)
	}
	return all
}

// sorted are the failures by namespace and name.
func (t *tally) sorted() ObjectsError {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.SortedFunc(slices.Values(t.failures), func(a, b *ObjectError) int {
		return strings.Compare(a.Object.String(), b.Object.String())
	})
}
