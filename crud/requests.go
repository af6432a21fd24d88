/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Each method sends one request. The API server rejects fields that the kind does not have, instead of dropping them.

func (c *call) get(ctx context.Context) (*unstructured.Unstructured, error) {
	live, err := c.request(ctx, http.MethodGet, "getting", nil, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return c.objects.Get(ctx, c.op.Name, metav1.GetOptions{})
	})
	c.read = cmp.Or(c.read, live)
	return live, err
}

func (c *call) post(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return c.request(ctx, http.MethodPost, "creating", object.Object, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return c.objects.Create(ctx, object, metav1.CreateOptions{
			FieldManager: c.options.FieldManager, FieldValidation: metav1.FieldValidationStrict, DryRun: c.dryRun(),
		})
	})
}

func (c *call) patch(ctx context.Context, kind types.PatchType, patch []byte) (*unstructured.Unstructured, error) {
	var subresources []string
	if c.op.StatusPatch {
		subresources = []string{"status"}
	}
	return c.request(ctx, http.MethodPatch, "patching", patch, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return c.objects.Patch(ctx, c.op.Name, kind, patch, metav1.PatchOptions{
			FieldManager: c.options.FieldManager, FieldValidation: metav1.FieldValidationStrict, DryRun: c.dryRun(),
		}, subresources...)
	})
}

// patchFields sends a merge patch that was made from live. The API server rejects it for another state and for another object of the name.
func (c *call) patchFields(ctx context.Context, live *unstructured.Unstructured, fields map[string]any) (*unstructured.Unstructured, error) {
	version := live.GetResourceVersion()
	encoded, err := json.Marshal(withPreconditions(fields, metav1.Preconditions{ResourceVersion: &version}))
	if err != nil {
		return nil, Malformed.errorf("encoding the patch: %w", err)
	}
	c.sent = encoded
	return c.patch(ctx, types.MergePatchType, encoded)
}

// withPreconditions returns a copy of a merge patch that the API server rejects for another object or state.
func withPreconditions(fields map[string]any, preconditions metav1.Preconditions) map[string]any {
	metadata, _ := fields["metadata"].(map[string]any)
	if metadata = maps.Clone(metadata); metadata == nil {
		metadata = map[string]any{}
	}
	if preconditions.UID != nil {
		metadata["uid"] = string(*preconditions.UID)
	}
	if preconditions.ResourceVersion != nil {
		metadata["resourceVersion"] = *preconditions.ResourceVersion
	}
	if fields = maps.Clone(fields); len(metadata) > 0 {
		fields["metadata"] = metadata
	}
	return fields
}

// delete must be called with the UID of the object as a precondition.
func (c *call) delete(ctx context.Context, policy metav1.DeletionPropagation, preconditions metav1.Preconditions) error {
	_, err := c.request(ctx, http.MethodDelete, "deleting", nil, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return nil, c.objects.Delete(ctx, c.op.Name, metav1.DeleteOptions{
			PropagationPolicy: &policy, Preconditions: &preconditions, GracePeriodSeconds: c.op.GracePeriodSeconds, DryRun: c.dryRun(),
		})
	})
	if err == nil || ClassOf(err) == Uncertain {
		c.result.Deleted = *preconditions.UID
	}
	return err
}

func (c *call) dryRun() []string {
	if c.options.DryRun {
		return []string{metav1.DryRunAll}
	}
	return nil
}

func (c *call) unchanged() error {
	c.result.Outcome = Unchanged
	return nil
}

// updated sets the outcome of a write from the state before it, which is nil if it was not read. The API server returns the same
// resourceVersion if the write changed nothing, and after each dry run.
func (c *call) updated(before, after *unstructured.Unstructured) {
	unchanged := before != nil && before.GetResourceVersion() == after.GetResourceVersion()
	if unchanged && c.options.DryRun {
		before, after = before.DeepCopy(), after.DeepCopy()
		before.SetManagedFields(nil)
		after.SetManagedFields(nil)
		unchanged = equal(before.Object, after.Object)
	}
	switch {
	case unchanged:
		c.result.Outcome = Unchanged
	case c.op.StatusPatch:
		c.result.Outcome = StatusUpdated
	default:
		c.result.Outcome = Updated
	}
}

// retry calls attempt until it succeeds, fails for good, or has been called as often as the back-off permits. Each conflict shows that another writer has
// succeeded, so that it permits more of them than of other failures.
func (c *call) retry(ctx context.Context, attempt func() error) error {
	backoff := c.options.Backoff
	for {
		c.result.Attempts++
		err := attempt()
		class, limit := ClassOf(err), c.options.Backoff.Steps
		if class != Conflict && class != AlreadyExists {
			limit = min(limit, mostFailures)
		}
		if err == nil || !c.op.repeatsAfter(class) || c.result.Attempts >= limit {
			return err
		}
		c.retrying(ctx, class)
		suggested, _ := apierrors.SuggestsClientDelay(err)
		delay := max(backoff.Step(), time.Duration(suggested)*time.Second)
		if class == Throttled {
			delay = max(delay, time.Second) // as the header suggests that withoutRetryAfter removes
		}
		if !sleep(ctx, delay) {
			return fmt.Errorf("%w, waiting for the next attempt after: %w", context.Cause(ctx), err) // which may be Uncertain
		}
	}
}

// canceled is the error of a wait that the end of the context ended.
func canceled(ctx context.Context, err error) error {
	return Canceled.errorf("%w: %w", context.Cause(ctx), err)
}

// sleep reports whether the time passed before the context ended.
func sleep(ctx context.Context, delay time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(delay):
		return true
	}
}

// withoutRetryAfter removes the header because of which client-go repeats a request by itself. A write that is not repeatable may have been executed.
type withoutRetryAfter struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (w withoutRetryAfter) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := w.RoundTripper.RoundTrip(request)
	if err == nil {
		response.Header.Del("Retry-After")
	}
	return response, err //nolint:wrapcheck // it is not ours
}

// warningsKey is the key of the list to which the warnings in the answers to requests of a context are appended.
type warningsKey struct{}

type warningHandler struct{}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (warningHandler) HandleWarningHeaderWithContext(ctx context.Context, code int, _, text string) {
	const warning = 299
	if warnings, ok := ctx.Value(warningsKey{}).(*[]string); ok && code == warning && text != "" {
		*warnings = append(*warnings, text)
	}
}
