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

	"go.uber.org/zap"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// hopeless is after how many objects in a row that could not be written within their tries a run gives up: it is the
// server then, or a webhook, and not the objects.
const hopeless = 3

// tally counts the results for objects, and logs them at intervals of a number of objects.
type tally struct {
	log   *zap.SugaredLogger
	every int
	// moves reports whether objects may be stored at another version than the storage version, so that a write moves them.
	moves bool

	seen, listed   int
	left           int64
	moved, cleaned int
	deleted        int
	inARow         int
	failures       ObjectsError
}

// page records the number of objects in a list, and the number of remaining ones, which is nil if the server does not report it.
func (t *tally) page(n int, remaining *int64) {
	t.listed, t.left = t.listed+n, 0
	if remaining != nil {
		t.left = *remaining
	}
}

// note takes note of one object. It returns an error only if continuing with the others is useless.
func (t *tally) note(object types.NamespacedName, cleaned, wrote bool, err error) error {
	t.seen++
	if t.seen%t.every == 0 {
		t.log.Infow("Moving objects", "done", t.seen, "of", int64(t.listed)+t.left, "failed", len(t.failures))
	}
	exhausted, isExhausted := errors.AsType[*exhaustedError](err)
	interrupted, isInterrupted := errors.AsType[*interruptedError](err)
	switch {
	case err == nil:
		if cleaned {
			t.cleaned++
		}
		if wrote && t.moves {
			t.moved++
		}
	case isInterrupted:
		return interrupted
	case apierrors.IsNotFound(err):
		t.deleted++
	default:
		t.failures = append(t.failures, &ObjectError{object, err})
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

// ObjectError is the reason for which one object was not migrated.
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
	return slices.SortedFunc(slices.Values(t.failures), func(a, b *ObjectError) int {
		return strings.Compare(a.Object.String(), b.Object.String())
	})
}
