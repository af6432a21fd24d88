/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package confidential

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
)

// shortest is the length from which a value is replaced. Shorter ones, such as true, are in any text.
const shortest = 4

// Values are values of objects of confidential kinds, which are replaced in texts of the program itself: in clear, in base64, in hexadecimal digits,
// and as JSON, Go and URLs escape them. Only one goroutine may use them at a time.
type Values struct {
	// Kinds are those that are confidential in addition to Secret.
	Kinds Kinds

	known    sets.Set[string]
	replacer *strings.Replacer // of those that are known, or nil
}

// Public are the top-level fields of an object without confidential values.
var Public = sets.New("apiVersion", "kind", "metadata", "type", "immutable")

// Add adds the values of an object, if its kind is confidential, and reports whether it is.
func (v *Values) Add(object runtime.Object) bool {
	if object == nil || reflect.ValueOf(object).IsNil() {
		return false
	}
	kind := object.GetObjectKind().GroupVersionKind().GroupKind()
	switch object := object.(type) {
	case *corev1.Secret: // typed objects do not contain their kind
		kind = schema.GroupKind{Kind: "Secret"}
	case *metav1.PartialObjectMetadata: // nor does metadata, but the object that kubectl applied
		applied := &unstructured.Unstructured{}
		_ = applied.UnmarshalJSON([]byte(object.Annotations[corev1.LastAppliedConfigAnnotation])) // or else it has no kind
		kind = applied.GroupVersionKind().GroupKind()
	}
	if !v.Kinds.Has(kind) {
		return false
	}
	if fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object); err == nil {
		v.AddFields(fields)
	}
	return true
}

// AddFields adds the values of the fields of a confidential object.
func (v *Values) AddFields(fields map[string]any) {
	for field, value := range fields {
		if !Public.Has(field) {
			v.add(value)
		}
	}
	applied := map[string]any{}
	annotation, _, _ := unstructured.NestedString(fields, "metadata", "annotations", corev1.LastAppliedConfigAnnotation)
	if json.Unmarshal([]byte(annotation), &applied) == nil && len(applied) > 0 {
		v.AddFields(applied)
	}
}

func (v *Values) add(value any) {
	switch value := value.(type) {
	case map[string]any:
		for _, field := range value {
			v.add(field)
		}
	case []any:
		for _, item := range value {
			v.add(item)
		}
	case nil, bool:
	default:
		text := fmt.Sprint(value)
		v.addText(text)
		if decoded, err := base64.StdEncoding.DecodeString(text); err == nil {
			v.addText(string(decoded))
		}
	}
}

// addText adds the forms of a value, and each of its lines, since output is logged by lines.
func (v *Values) addText(text string) {
	if v.known == nil {
		v.known = sets.New[string]()
	}
	escaped, err := json.Marshal(text)
	if err != nil {
		panic(err) // a text has a JSON form
	}
	v.replacer = nil
	v.known.Insert(strings.Split(text, "\n")...)
	v.known.Insert(
		text, string(escaped[1:len(escaped)-1]), strings.Trim(strconv.Quote(text), `"`), url.QueryEscape(text), url.PathEscape(text),
		base64.RawStdEncoding.EncodeToString([]byte(text)), base64.RawURLEncoding.EncodeToString([]byte(text)),
		fmt.Sprintf("%x", text), fmt.Sprintf("%X", text), strings.Trim(fmt.Sprintf("%d", []byte(text)), "[]"),
	)
}

// Hides reports whether a text has a value, also a short one that is the whole text.
func (v *Values) Hides(text string) bool {
	return text != "" && v.known.Has(text) || v.Mask(text) != text
}

// Mask replaces the values in a text.
func (v *Values) Mask(text string) string {
	if v.replacer == nil {
		v.replacer = v.newReplacer()
	}
	return v.replacer.Replace(text)
}

// MaskFields replaces the values in the texts of an object.
func (v *Values) MaskFields(fields map[string]any) {
	for name, value := range fields {
		fields[name] = v.masked(value)
	}
}

func (v *Values) masked(value any) any {
	switch value := value.(type) {
	case map[string]any:
		v.MaskFields(value)
	case []any:
		for i, item := range value {
			value[i] = v.masked(item)
		}
	case string:
		return v.Mask(value)
	}
	return value
}

func (v *Values) newReplacer() *strings.Replacer {
	// If two values begin at the same place, a replacer replaces the one that is first in its arguments.
	values := slices.SortedFunc(func(yield func(string) bool) {
		for value := range v.known {
			if value = strings.TrimSpace(value); len(value) >= shortest && !yield(value) {
				return
			}
		}
	}, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(values))
	for _, value := range values {
		pairs = append(pairs, value, "***")
	}
	return strings.NewReplacer(pairs...)
}

// Error returns an error of a function that has received the values, without them and without texts of the API server.
func (v *Values) Error(err error) error {
	if answer := apierrors.APIStatus(nil); errors.As(err, &answer) {
		err = Answer(err)
	}
	return v.Masked(err)
}

// Masked returns an error without the values. The answer of the API server about another object keeps the rest of its text.
func (v *Values) Masked(err error) error {
	if err == nil || v.Mask(err.Error()) == err.Error() {
		return err
	}
	masked := &Error{text: v.Mask(err.Error()), cause: err}
	if answer := apierrors.APIStatus(nil); errors.As(err, &answer) {
		masked.status = &apierrors.StatusError{ErrStatus: redacted(answer.Status(), nil)}
	}
	return masked
}
