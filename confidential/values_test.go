/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package confidential

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestValues_AddedInAnyType_AreMaskedInEachForm(t *testing.T) {
	const value = `hunter2 <"ü&/%+`
	encoded := base64.StdEncoding.EncodeToString([]byte(value))
	applied := metav1.ObjectMeta{Annotations: map[string]string{corev1.LastAppliedConfigAnnotation: `{"apiVersion":"v1","kind":"Secret","data":{"k":"` + encoded + `"}}`}}
	for name, object := range map[string]runtime.Object{
		"typed":        &corev1.Secret{Data: map[string][]byte{"k": []byte(value)}},
		"stringData":   &corev1.Secret{StringData: map[string]string{"k": value}},
		"applied":      &corev1.Secret{ObjectMeta: applied},
		"metadata":     &metav1.PartialObjectMetadata{ObjectMeta: applied},
		"unstructured": &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"k": encoded}}},
		"declared": &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Vault", "spec": map[string]any{"tokens": []any{value}},
		}},
	} {
		values := Values{Kinds: Kinds{{Group: "example.com", Kind: "Vault"}}}
		if !values.Add(object) {
			t.Errorf("%s: it is not confidential", name)
		}
		for _, text := range []string{
			value, encoded, base64.RawURLEncoding.EncodeToString([]byte(value)), url.QueryEscape(value), url.PathEscape(value), fmt.Sprintf("%x", value),
			fmt.Sprintf("%X", value), fmt.Sprintf("%q", value), `"hunter2 \u003c\"ü\u0026/%+"`, fmt.Sprintf("%d", []byte(value)),
		} {
			if masked := values.Mask("it is " + text + "."); strings.TrimRight(strings.Trim(strings.TrimPrefix(masked, "it is "), `"[].`), "=") != "***" {
				t.Errorf("%s: %q is shown as %q", name, text, masked)
			}
		}
	}
}

func TestValues_OtherKindsAndShortValues_AreShown(t *testing.T) {
	values := Values{}
	var none *corev1.Secret
	if values.Add(nil) || values.Add(none) || values.Add(&corev1.ConfigMap{Data: map[string]string{"k": value}}) || values.Mask(value) != value {
		t.Error("an object that is no Secret is confidential")
	}
	if !values.Add(&corev1.Secret{Type: "Opaque", Data: map[string][]byte{"k": []byte("on")}}) || values.Mask("Opaque on") != "Opaque on" {
		t.Error("a short value, or the type, is masked")
	}
	if !values.Hides("on") || values.Hides("once") || values.Hides("") {
		t.Error("a text that is a short value is not recognized")
	}
}

func TestValues_LinesOfAValue_AreMasked(t *testing.T) {
	values := Values{}
	values.Add(&corev1.Secret{StringData: map[string]string{"k": "first line\nsecond line"}})
	if got := values.Mask("the second line and the first line"); got != "the *** and the ***" {
		t.Errorf("got %q", got)
	}
}

type own string

func (o own) Error() string { return "reading " + string(o) }

func TestValues_ErrorOfAFunction_HasNoValueAndIsFound(t *testing.T) {
	values := Values{}
	values.Add(&corev1.Secret{StringData: map[string]string{"k": value}})
	rejected := invalid()
	rejected.ErrStatus.Message = "it is " + value
	for _, tc := range []struct {
		err  error
		want string
	}{
		{own(value), "reading ***"},
		{fmt.Errorf("wrapped %s: %w", value, own(value)), "wrapped ***: reading ***"},
		{fmt.Errorf("wrapped %s: %w", value, apierrors.NewNotFound(secrets, "a")), `wrapped ***: secrets "a" not found`},
		{errors.Join(own(value), rejected), "reading ***\nthe API server answered 422 Invalid: its text is not shown, since it may contain values of the object"},
		{fmt.Errorf("%w, for %s", rejected, value), "the API server answered 422 Invalid: its text is not shown, since it may contain values of the object"},
	} {
		err := values.Error(tc.err)
		if err.Error() != tc.want || strings.Contains(printed(t, err), value) {
			t.Errorf("got %q, want %q without the value:\n%s", err, tc.want, printed(t, err))
		}
		if _, ok := errors.AsType[own](tc.err); ok && !errors.Is(err, own(value)) {
			t.Errorf("%s: the error of the function is not found", err)
		}
		if apierrors.IsNotFound(tc.err) != apierrors.IsNotFound(err) || apierrors.IsInvalid(tc.err) != apierrors.IsInvalid(err) {
			t.Errorf("%s: the answer of the API server is another one", err)
		}
	}
	// An answer about an object that is not confidential.
	rejected.ErrStatus.Message = `ConfigMap "a" is invalid: metadata.labels: Invalid value: "it is ` + value + `"`
	masked := values.Masked(fmt.Errorf("creating it: %w", rejected))
	if want := `creating it: ConfigMap "a" is invalid: metadata.labels: Invalid value: "it is ***"`; masked.Error() != want ||
		strings.Contains(printed(t, masked), value) || !apierrors.IsInvalid(masked) {
		t.Errorf("got %q, want %q without the value:\n%s", masked, want, printed(t, masked))
	}
	if plain := errors.New("plain"); values.Error(plain) != plain || values.Error(nil) != nil { //nolint:errorlint // it is not wrapped
		t.Error("an error without values is another one")
	}
}

func TestKinds_Decode_NamesKindsWithGroups(t *testing.T) {
	var kinds Kinds
	if err := kinds.Decode("Vault.example.com, Token"); err != nil || !kinds.Has(schema.GroupKind{Group: "example.com", Kind: "Vault"}) ||
		!kinds.Has(schema.GroupKind{Kind: "Token"}) || !kinds.Has(schema.GroupKind{Kind: "Secret"}) || kinds.Has(schema.GroupKind{Kind: "Vault"}) {
		t.Errorf("the kinds are %v, %v", kinds, err)
	}
	if err := kinds.Decode("vaults"); err == nil || !strings.Contains(err.Error(), "such as Vault.example.com") {
		t.Errorf("got the error %v", err)
	}
}
