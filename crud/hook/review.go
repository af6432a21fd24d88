/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/semaphore"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/mallard-dev/mallard/confidential"
	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/internal/child"
)

const (
	// concurrentReviews bounds how many runs of a binding take place at a time, and mostWaiting how many others wait for them.
	concurrentReviews = 4
	mostWaiting       = 50
)

var errLate = errors.New("it did not answer within the timeout of its binding")

// Review answers the admission reviews of a binding. Each replica has all of them, whether it leads or not.
type Review struct {
	*Admission

	kind     ContextType
	hook     *Hook
	options  Options
	measured *instruments
	process  context.Context //nolint:containedctx // the lifetime of the server
	client   *crud.Client
	monitors []*monitor
	// running and waiting are those of the binding. No review runs until the monitors of the snapshots have their objects.
	running, waiting *semaphore.Weighted
}

// Reviews returns the reviews of hooks, one for each binding in Validating and Mutating. The error has every mistake in the bindings.
func Reviews(options Options, hooks ...*Hook) (all []*Review, err error) {
	hooks, err = options.completed(hooks)
	if err != nil {
		return nil, err
	}
	measured := newInstruments(string(options.MetricPrefix))
	hookOf := map[string]string{}
	add := func(h *Hook, kind ContextType, bindings []Admission) {
		for i := range bindings {
			r := &Review{
				Admission: &bindings[i], kind: kind, hook: h, options: options.withDefaults(), measured: measured,
				running: semaphore.NewWeighted(concurrentReviews), waiting: semaphore.NewWeighted(mostWaiting),
			}
			if other, ok := hookOf[r.Path()]; ok {
				err = errors.Join(err, fmt.Errorf("hook %q: %s binding %s: hook %q has one with this name", h.name, kind, r.Name, other))
			}
			hookOf[r.Path()] = h.name
			all = append(all, r)
		}
	}
	for _, h := range hooks {
		add(h, TypeValidating, h.bindings.Validating)
		add(h, TypeMutating, h.bindings.Mutating)
	}
	return all, err
}

// reviewPath begins the paths of all reviews.
const reviewPath = "/reviews/"

// Path returns the path of the requests.
func (r *Review) Path() string { return reviewPath + strings.ToLower(string(r.kind)) + "/" + r.Name }

// Start observes the objects of the snapshots. It is called once, before Answer, with the context of the process.
func (r *Review) Start(ctx context.Context) (err error) {
	r.process = ctx
	if r.client, err = r.options.client(ctx); err != nil {
		return err
	}
	for i := range r.hook.bindings.Kubernetes {
		k := &r.hook.bindings.Kubernetes[i]
		if slices.Contains(r.IncludeSnapshotsFrom, k.Name) || r.Group != "" && r.Group == k.Group {
			r.monitors = append(r.monitors, newMonitor(ctx, r.hook, k))
		}
	}
	_ = r.running.Acquire(ctx, concurrentReviews) // no other has any yet
	go func() {
		if awaitObjects(ctx, r.client, r.monitors) {
			r.running.Release(concurrentReviews)
		}
	}()
	return nil
}

// Answer runs the hook for a request. An error means that there is no answer, so that the failure policy decides. It returns in time even if the
// hook does not.
func (r *Review) Answer(ctx context.Context, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
	began := time.Now()
	// Before the API server stops waiting.
	within := time.Duration(r.TimeoutSeconds) * time.Second * 9 / 10
	ctx, cancel := bounded(ctx, r.process, min(within, cmp.Or(r.hook.bindings.Settings.Timeout.Duration, within)), r.options.Grace, errLate)
	defer cancel()
	logger := loggerOf(r.process, r.hook, r.Name, "").With("task", request.UID)
	response, err := r.answer(ctx, request, logger)
	r.measured.measureReview(r, response, time.Since(began))
	if err != nil {
		logger.Errorw("A hook did not answer a review", "error", err)
		return nil, fmt.Errorf("hook %s: %w", r.hook.name, err)
	}
	return response, nil
}

func (r *Review) answer(ctx context.Context, request *admissionv1.AdmissionRequest, logger *zap.SugaredLogger) (*admissionv1.AdmissionResponse, error) {
	if !r.waiting.TryAcquire(1) {
		return nil, fmt.Errorf("%d reviews wait for it already", mostWaiting)
	}
	err := r.running.Acquire(ctx, 1)
	if r.waiting.Release(1); err != nil {
		return nil, fmt.Errorf("waiting for the objects of its snapshots, or for other reviews to end: %w", context.Cause(ctx))
	}
	var response *admissionv1.AdmissionResponse
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer r.running.Release(1)
		response, err = r.run(ctx, request, logger)
	}()
	select {
	case <-ended:
		return response, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// run runs the hook. No value of a Secret is in the error.
func (r *Review) run(ctx context.Context, request *admissionv1.AdmissionRequest, logger *zap.SugaredLogger) (_ *admissionv1.AdmissionResponse, failed error) {
	run := &Run{Hook: r.hook.name, Task: string(request.UID), Logger: logger}
	defer run.recovered(r.client, func(err error) { failed = err })
	run.Contexts = []Context{r.contextOf(request, &run.values)}
	file, err := r.hook.call(ctx, run)
	run.reveal(r.client, file)
	if planned := len(file.Operations) + len(file.OnHookError); err == nil && planned > 0 {
		err = &rejection{fmt.Errorf("it has %d operations, which are not executed in a review", planned), "review"}
	}
	if err == nil {
		err = run.Response.check(ctx, r.kind, request)
	}
	if err != nil {
		r.measured.countRejection(r.hook.name, err, "")
		return nil, run.values.Error(err)
	}
	return run.Response.toAPI(&run.values), nil
}

// contextOf returns the context of a request, and adds the values of confidential objects in it.
func (r *Review) contextOf(request *admissionv1.AdmissionRequest, values *confidential.Values) Context {
	values.Kinds = r.options.ConfidentialKinds
	c := Context{Binding: r.Name, Type: r.kind, Review: &admissionv1.AdmissionReview{Request: request}}
	c.Review.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"))
	for _, m := range r.monitors {
		states := m.states()
		c.include(m, states)
		for _, s := range states {
			values.Add(s.Unstructured)
		}
	}
	for _, object := range []runtime.RawExtension{request.Object, request.OldObject} {
		u := &unstructured.Unstructured{}
		if u.UnmarshalJSON(object.Raw) == nil {
			values.Add(u)
		}
	}
	return c
}

// Response is the answer to an admission review. Its JSON is that of shell-operator.
type Response struct {
	Allowed bool `json:"allowed"`
	// Message is the reason for which a request is denied, and Warnings are shown to the user in any case. Values of Secrets in them are masked.
	Message  string   `json:"message,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	// Patch is a JSON patch of the object, in base64 in JSON. Only Mutating may have one.
	Patch []byte `json:"patch,omitempty"`
}

const (
	// mostOfResponse bounds the size of a response, as the API server does.
	mostOfResponse = 3 << 20
	answerAdvice   = "write a response with the field allowed to the file $" + responseVariable
)

// decodeResponse decodes the file of a response. It is nil if the file is empty.
func decodeResponse(content []byte) (*Response, error) {
	if len(strings.TrimSpace(string(content))) == 0 {
		return nil, nil //nolint:nilnil // the hook did not answer
	}
	var decoded struct {
		Response `json:",inline"`

		Allowed *bool `json:"allowed"`
	}
	strict, err := kjson.UnmarshalStrict(content, &decoded)
	if err != nil || len(strict) > 0 {
		return nil, fmt.Errorf("decoding it: %w", errors.Join(append(strict, err)...))
	}
	if decoded.Allowed == nil {
		return nil, errors.New("allowed: it is missing: " + answerAdvice)
	}
	decoded.Response.Allowed = *decoded.Allowed
	return &decoded.Response, nil
}

// check returns the reason for which the API server could not use a response.
func (r *Response) check(ctx context.Context, kind ContextType, request *admissionv1.AdmissionRequest) error {
	switch {
	case r == nil:
		return errors.New("it did not answer the review: " + answerAdvice)
	case len(r.Patch) == 0 || !r.Allowed:
		return nil
	case kind != TypeMutating:
		return errors.New("patch: only a binding in kubernetesMutating may change the object")
	case len(request.Object.Raw) == 0:
		return fmt.Errorf("patch: a request with operation %s has no object", request.Operation)
	}
	patch, err := jsonpatch.DecodePatch(r.Patch)
	if err != nil {
		return fmt.Errorf("patch: it is no JSON patch: %w", err)
	}
	patched, err := child.Patch(ctx, request.Object.Raw, patch, false)
	if err == nil && patched.Reason != "" {
		err = fmt.Errorf("operation %d: %s", patched.Failed, patched.Reason)
	}
	if err != nil {
		return fmt.Errorf("patch: executing it: %w", err)
	}
	return nil
}

func (r *Response) toAPI(values *confidential.Values) *admissionv1.AdmissionResponse {
	response := &admissionv1.AdmissionResponse{Allowed: r.Allowed}
	for _, warning := range r.Warnings {
		response.Warnings = append(response.Warnings, values.Mask(warning))
	}
	switch {
	case !r.Allowed:
		response.Result = &metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: values.Mask(r.Message),
		}
	case len(r.Patch) > 0:
		response.Patch, response.PatchType = r.Patch, new(admissionv1.PatchTypeJSONPatch)
	}
	return response
}
