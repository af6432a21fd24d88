/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/zap"
	zapobserver "go.uber.org/zap/zaptest/observer"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
)

const secretValue = "hunter2-hunter2"

// logged returns the log and the errors of a handler that fails in these ways with an event.
func logged[T Object](t *testing.T, source Source[T], event Event[T], fail ...func() error) string {
	t.Helper()
	core, logs := zapobserver.New(zap.DebugLevel)
	ctx := logging.WithLogger(t.Context(), zap.New(core).Sugar())
	var all strings.Builder
	for _, fail := range fail {
		d, err := define("it", source, func(context.Context, Event[T]) error { return fail() }, nil)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&all, d.observer(ctx).call(ctx, event))
	}
	for _, entry := range logs.All() {
		fields := entry.ContextMap()
		delete(fields, "stack")
		encoded, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&all, entry.Message, fields, string(encoded))
	}
	return all.String()
}

func TestObserver_HandlerOfSecretsFails_LogsNoValue(t *testing.T) {
	rejected := apierrors.NewBadRequest(`{"data":{"password":"` + secretValue + `"}}`)
	secret := &corev1.Secret{StringData: map[string]string{"password": secretValue}, Data: map[string][]byte{"password": []byte(secretValue)}}
	text := func() error { return errors.New("reading " + secretValue) }
	answer := func() error { return fmt.Errorf("patching it: %w", rejected) }
	panicking := func() error { panic(secretValue) }
	ways := []func() error{text, answer, panicking, func() error { panic(secret) }, func() error { panic(fmt.Errorf("wrapped: %w", rejected)) }}
	fields := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "stringData": map[string]any{"password": secretValue}}}
	for name, all := range map[string]string{
		"typed":        logged(t, newSource[*corev1.Secret](nil, nil, nil), Event[*corev1.Secret]{Object: secret}, ways...),
		"deleted":      logged(t, newSource[*corev1.Secret](nil, nil, nil), Event[*corev1.Secret]{Old: secret}, ways...),
		"unstructured": logged(t, Unstructured(corev1.SchemeGroupVersion.WithResource("secrets")), Event[*unstructured.Unstructured]{Object: fields}, ways...),
		"metadata":     logged(t, Metadata(corev1.SchemeGroupVersion.WithResource("secrets")), Event[*partial]{Object: object(1, 1)}, answer),
	} {
		if strings.Contains(all, secretValue) || strings.Contains(all, strings.Trim(fmt.Sprintf("%d", []byte(secretValue)), "[]")) ||
			!strings.Contains(all, "patching it: the API server answered 400 BadRequest") {
			t.Errorf("%s: the value is logged, or the error is not:\n%s", name, all)
		}
	}
	configMap := &corev1.ConfigMap{Data: map[string]string{"password": secretValue}}
	if all := logged(t, newSource[*corev1.ConfigMap](nil, nil, nil), Event[*corev1.ConfigMap]{Object: configMap}, text, answer, panicking); strings.Count(all, secretValue) < 6 {
		t.Errorf("the errors about a ConfigMap are not logged as they are:\n%s", all)
	}
}

func TestObserver_HandlerOfSecrets_ErrorsKeepTheirMeaning(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a"}, StringData: map[string]string{"password": secretValue}}
	d, err := define("it", newSource[*corev1.Secret](nil, nil, nil), func(context.Context, Event[*corev1.Secret]) error {
		return controller.NewPermanentError(errors.New(secretValue))
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx := logging.WithLogger(t.Context(), zap.NewNop().Sugar())
	if err := d.observer(ctx).call(ctx, Event[*corev1.Secret]{Object: secret}); !controller.IsPermanentError(err) || strings.Contains(err.Error(), secretValue) {
		t.Errorf("the error is %v", err)
	}
}
