/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"encoding/base64"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/mallard-dev/mallard/crud"
)

// shortestSecret is the length from which a value of a Secret is masked. Shorter ones, such as true, are in any text.
const shortestSecret = 4

// secrets are the values of the Secrets that a hook received or wants to write, which are masked in everything that it logs.
type secrets struct {
	values sets.Set[string]
}

// add adds the values of an object, if it is a Secret.
func (s *secrets) add(u *unstructured.Unstructured) {
	if u.GetKind() != "Secret" || u.GetAPIVersion() != corev1.SchemeGroupVersion.String() {
		return
	}
	for _, field := range []string{"data", "stringData"} {
		values, _, _ := unstructured.NestedMap(u.Object, field)
		for _, value := range values {
			text, _ := value.(string)
			s.addValue(text)
			if decoded, err := base64.StdEncoding.DecodeString(text); err == nil && field == "data" {
				s.addValue(string(decoded))
			}
		}
	}
}

// addOperation adds the values of the Secret that an operation writes.
func (s *secrets) addOperation(op crud.Operation) {
	if op.Object == nil {
		return
	}
	if u, ok := op.Object.(*unstructured.Unstructured); ok {
		s.add(u)
	} else if secret, ok := op.Object.(*corev1.Secret); ok {
		if fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(secret); err == nil {
			u := &unstructured.Unstructured{Object: fields}
			u.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
			s.add(u)
		}
	}
}

// addValue adds a value and each of its lines, since output is logged by lines.
func (s *secrets) addValue(value string) {
	if s.values == nil {
		s.values = sets.New[string]()
	}
	for _, part := range append(strings.Split(value, "\n"), value) {
		if part = strings.TrimSpace(part); len(part) >= shortestSecret {
			s.values.Insert(part)
		}
	}
}

// masker returns the function that replaces the values in a text.
func (s *secrets) masker() func(string) string {
	// If two values begin at the same place, a replacer replaces the one that is first in its arguments.
	values := slices.SortedFunc(func(yield func(string) bool) {
		for value := range s.values {
			if !yield(value) {
				return
			}
		}
	}, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(values))
	for _, value := range values {
		pairs = append(pairs, value, "***")
	}
	return strings.NewReplacer(pairs...).Replace
}

func (s *secrets) mask(text string) string { return s.masker()(text) }
