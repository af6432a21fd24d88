/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package migration

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/fake"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
)

var gauges = schema.GroupResource{Group: "example.com", Resource: "gauges"}

// crdOf has versions by name, with * behind the one that is stored, and - in front of one that is not served.
func crdOf(versions ...string) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: gauges.Group, Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: gauges.Resource},
	}}
	crd.Name = gauges.String()
	for _, v := range versions {
		name, hidden := strings.CutPrefix(v, "-")
		name, storage := strings.CutSuffix(name, "*")
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{Name: name, Served: !hidden, Storage: storage})
	}
	return crd
}

func TestMigrate_StorageVersionIsNotServed_IsAnError(t *testing.T) {
	t.Parallel()
	m := &Migrator{CRDs: fake.NewClientset(crdOf("v1alpha1", "-v1*")), Backoff: wait.Backoff{Steps: 1}}
	if _, err := m.Migrate(t.Context(), gauges.String()); err == nil || !strings.Contains(err.Error(), "the storage version v1 is not served") {
		t.Errorf("the error is %v", err)
	}
}

func TestTransient_Errors_AreClassified(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"conflict":               {apierrors.NewConflict(gauges, "it", errors.New("changed")), true},
		"too many requests":      {apierrors.NewTooManyRequestsError("later"), true},
		"webhook down":           {apierrors.NewInternalError(errors.New("failed calling webhook")), true},
		"server restarts":        {apierrors.NewServiceUnavailable("later"), true},
		"server timeout":         {apierrors.NewTimeoutError("slow", 1), true},
		"a proxy's error":        {apierrors.NewGenericServerResponse(http.StatusBadGateway, "patch", gauges, "it", "", 0, false), true},
		"connection refused":     {&net.OpError{Op: "dial", Err: errors.New("connection refused")}, true},
		"connection broken":      {fmt.Errorf("patching: %w", io.ErrUnexpectedEOF), true},
		"request timed out":      {fmt.Errorf("patching: %w", context.DeadlineExceeded), true},
		"interrupted":            {fmt.Errorf("patching: %w", context.Canceled), false},
		"rejected by validation": {apierrors.NewInvalid(schema.GroupKind{Kind: "Gauge"}, "it", nil), false},
		"rejected by a webhook":  {apierrors.NewBadRequest("admission webhook denied the request"), false},
		"denied with a 500":      {apierrors.NewInternalError(errors.New("admission webhook denied the request: no")), false},
		"forbidden":              {apierrors.NewForbidden(gauges, "it", errors.New("no role")), false},
		"not found":              {apierrors.NewNotFound(gauges, "it"), false},
		"expired list":           {apierrors.NewResourceExpired("too old"), false},
		"wrapped":                {fmt.Errorf("reading: %w", apierrors.NewForbidden(gauges, "it", nil)), false},
		"our own":                {fmt.Errorf("reading: %w", errChanged), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := transient(test.err); got != test.want {
				t.Errorf("transient(%v) is %v, want %v", test.err, got, test.want)
			}
		})
	}
}

func TestTry_EachResult_EndsAsItsKind(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err   error
		tries int
	}{
		"success":   {nil, 1},
		"transient": {apierrors.NewServiceUnavailable("down"), 4},
		"rejected":  {apierrors.NewBadRequest("never"), 1},
		// Package retry of client-go would return nil.
		"canceled": {fmt.Errorf("patching: %w", context.Canceled), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tries := 0
			err := (&Migrator{Backoff: wait.Backoff{Duration: time.Nanosecond, Steps: 4}}).try(t.Context(), "reading", func() error {
				tries++
				return test.err
			})
			if !errors.Is(err, test.err) || (err == nil) != (test.err == nil) || tries != test.tries {
				t.Errorf("the error is %v after %d tries, want %v after %d", err, tries, test.err, test.tries)
			}
		})
	}
}

// A back-off of hours ends with the context.
func TestTry_ContextEndsBetweenTwoTries_IsTheLastError(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	err := (&Migrator{Backoff: wait.Backoff{Duration: time.Hour, Steps: 9}}).try(ctx, "reading", func() error {
		cancel()
		return apierrors.NewServiceUnavailable("down")
	})
	if !apierrors.IsServiceUnavailable(err) {
		t.Errorf("the error is %v", err)
	}
	if err := (&Migrator{Backoff: wait.Backoff{Steps: 1}}).try(ctx, "reading", func() error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("the error of a canceled context is %v", err)
	}
}

// A request is retried for longer than a webhook's Pod takes to be replaced, and not indefinitely.
func TestBackoff_Default_TakesAboutAMinute(t *testing.T) {
	t.Parallel()
	var all time.Duration
	for b := NewForConfig(&rest.Config{}).Backoff; b.Steps > 1; {
		all += b.Step()
	}
	if all < 55*time.Second || all > 80*time.Second {
		t.Errorf("a request is tried for %v, want about a minute", all)
	}
}
