/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	"github.com/mallard-dev/mallard/conversion"
)

// OneOf returns a function for randfill that chooses one of a string type's values, or now and then an invalid one.
func OneOf[T ~string](values ...string) any {
	return func(value *T, c randfill.Continue) {
		const oneIn = 8
		if c.Intn(oneIn) == 0 {
			*value = T(c.String(0))
			return
		}
		*value = T(values[c.Intn(len(values))])
	}
}

// Choose returns a pointer to one of some values, nil, or now and then a pointer to none of them.
func Choose(c randfill.Continue, values ...string) *string {
	const oneIn = 8
	value := values[c.Intn(len(values))]
	switch c.Intn(oneIn) {
	case 0:
		return nil
	case 1:
		value = c.String(0)
	}
	return &value
}

// ChooseEach replaces the values of a list by some of the given ones.
func ChooseEach(c randfill.Continue, list, values []string) []string {
	for i := range list {
		if chosen := Choose(c, values...); chosen != nil {
			list[i] = *chosen
		}
	}
	return list
}

// bits are those of an int64. A random number that is shifted by up to as many is of any size.
const bits = 64

// common are functions for types whose random bytes would be no JSON, or would change in a round trip.
var common = []any{
	func(meta *metav1.ObjectMeta, c randfill.Continue) {
		c.FillNoCustom(meta)
		meta.Name, meta.Namespace, meta.UID, meta.ResourceVersion = word(c), word(c), types.UID(word(c)), word(c)
	},
	func(fields *metav1.FieldsV1, c randfill.Continue) {
		*fields = metav1.FieldsV1{Raw: fmt.Appendf(nil, `{"f:%s":{}}`, word(c))}
	},
	func(meta *metav1.TypeMeta, _ randfill.Continue) { *meta = metav1.TypeMeta{} },
	func(bag *conversion.PropertyBag, c randfill.Continue) {
		// Entries that this release does not know have to be kept.
		if c.Intn(3) == 0 {
			if err := bag.Put("v99/"+word(c), word(c)); err != nil {
				panic(err) // a text can always be put
			}
		}
	},
	func(t *metav1.Time, c randfill.Continue) { *t = metav1.NewTime(moment(c)) },
	func(t *metav1.MicroTime, c randfill.Continue) { *t = metav1.NewMicroTime(moment(c)) },
	func(d *metav1.Duration, c randfill.Continue) {
		d.Duration = time.Duration(often0(c, int64(c.Uint64())>>c.Intn(bits)))
	},
	func(q *resource.Quantity, c randfill.Continue) {
		*q = resource.MustParse(fmt.Sprintf("%d%s", often0(c, c.Int63n(1000)), []string{"", "m", "Ki", "G"}[c.Intn(4)]))
		_ = q.String() // keeps the text, as parsing JSON does
	},
	func(i *intstr.IntOrString, c randfill.Continue) {
		*i = intstr.FromInt32(c.Int31())
		if c.Bool() {
			*i = intstr.FromString(word(c))
		}
	},
	func(r *runtime.RawExtension, c randfill.Continue) { *r = runtime.RawExtension{Raw: someJSON(c)} },
	func(r *json.RawMessage, c randfill.Continue) { *r = someJSON(c) },
	func(u *unstructured.Unstructured, c randfill.Continue) {
		u.Object = map[string]any{
			"apiVersion": "example.com/v1", "kind": "Example", "metadata": map[string]any{"name": word(c)},
			"spec": map[string]any{word(c): []any{c.Bool(), word(c)}},
		}
	},
	func(t *time.Time, c randfill.Continue) { *t = moment(c) },
}

// often0 is the number, or often enough 0, to which some types give a special meaning or form.
func often0(c randfill.Continue, number int64) int64 {
	const oneIn = 6
	if c.Intn(oneIn) == 0 {
		return 0
	}
	return number
}

// someJSON is JSON of any form but null, which types that hold JSON read as nothing.
func someJSON(random interface{ Intn(n int) int }) []byte {
	const most = 1000
	forms := []string{`{"raw":%d}`, `[%d]`, `"%d"`, `%d`}
	return fmt.Appendf(nil, forms[random.Intn(len(forms))], random.Intn(most))
}

// word is a short text of letters, seldom empty.
func word(c interface{ Intn(n int) int }) string {
	const letters, longest = "abcdefghijklmnopqrstuvwxyz", 8
	var text strings.Builder
	for range 1 + c.Intn(longest) {
		text.WriteByte(letters[c.Intn(len(letters))])
	}
	return text.String()
}

func moment(c randfill.Continue) time.Time {
	const seconds = 4e9
	return time.Unix(c.Int63n(seconds), 0).UTC()
}

// hasOwnJSON reports whether a type, or the pointer to it, writes its JSON itself.
func hasOwnJSON(t reflect.Type) bool {
	pointer := reflect.PointerTo(t)
	return pointer.Implements(reflect.TypeFor[json.Marshaler]()) || pointer.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// makeReadable replaces a value whose JSON cannot be read, as of a URL with random fields, by one that is read from a likely text. So it
// does with a zero value where nothing may be left out. If the type can read none of the texts, the value stays: the test that meets it
// reports the type.
func (f *filler) makeReadable(value reflect.Value) {
	if isReadable(value) && (!f.whole || !value.IsZero()) {
		return
	}
	for _, text := range []string{
		fmt.Sprintf(`"https://%s.example.com/%s"`, word(f.random), word(f.random)),
		fmt.Sprintf("%q", word(f.random)),
		`"192.0.2.1"`, `"192.0.2.0/24"`, `"2026-01-01T00:00:00Z"`, `"1h0m0s"`, `"1"`, `1`, `true`, `{}`, `[]`,
	} {
		candidate := reflect.New(value.Type())
		if json.Unmarshal([]byte(text), candidate.Interface()) == nil && isReadable(candidate.Elem()) && !candidate.Elem().IsZero() {
			value.Set(candidate.Elem())
			return
		}
	}
}

// holdsJSON reports whether a struct keeps JSON as it is, as apiextensionsv1.JSON does.
func holdsJSON(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	raw, ok := t.FieldByName("Raw")
	return ok && raw.Type == reflect.TypeFor[[]byte]() && hasOwnJSON(t)
}

// isReadable reports whether a value's JSON is that of the value that is read from it.
func isReadable(value reflect.Value) bool {
	again, err := reread(value.Addr().Interface())
	if err != nil {
		return false
	}
	same, err := conversion.Equal(value.Addr().Interface(), again)
	return same && err == nil
}

// forgetNull has each json.RawMessage be nil that holds null, and some lists and maps be empty that are null. To conversions both mean that there is
// nothing.
func forgetNull(value reflect.Value, neverNull []string) {
	if message, ok := reflect.TypeAssert[json.RawMessage](value); ok {
		if value.CanSet() && string(message) == "null" {
			value.SetZero()
		}
		return
	}
	if value.Kind() != reflect.Map {
		for name, each := range parts(value) {
			if each.IsZero() && slices.Contains(neverNull, value.Type().Name()+"."+name) {
				each.Set(empty(each.Type()))
			}
			forgetNull(each, neverNull)
		}
		return
	}
	for key, each := range value.Seq2() {
		element := reflect.New(each.Type()).Elem()
		element.Set(each)
		forgetNull(element, neverNull)
		value.SetMapIndex(key, element)
	}
}
