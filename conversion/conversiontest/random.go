/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	"github.com/mallard-dev/mallard/conversion"
)

// filler makes random objects. In addition to what randfill does, pointers are nil, and values zero and lists empty, often
// enough to matter.
type filler struct {
	random *rand.Rand
	filler *randfill.Filler
	// whole leaves nothing out.
	whole bool
}

const (
	// mostElements is how many elements a list or map has at most.
	mostElements = 3
	// deepest is how far down pointers, lists, maps and structs are filled, which ends types that hold themselves.
	deepest = 10
	// absent is how likely it is that a pointer, list or map is nil.
	absent = 1. / 3
)

func newFiller(source rand.Source, functions []any) *filler {
	random := rand.New(source) //nolint:gosec // a test that can be repeated
	return &filler{
		random: random,
		filler: randfill.New().RandSource(source).NilChance(absent).NumElements(0, mostElements).MaxDepth(deepest).Funcs(common...).Funcs(functions...),
	}
}

// withEverything leaves nothing absent, zero or empty, but for what the functions leave out.
func (f *filler) withEverything() *filler {
	f.whole = true
	f.filler.NilChance(0).NumElements(1, mostElements)
	return f
}

// fill fills what a pointer points to.
func (f *filler) fill(object any) {
	f.filler.Fill(object)
	f.varyFields(reflect.ValueOf(object).Elem())
}

// varyFields leaves the struct itself.
func (f *filler) varyFields(value reflect.Value) {
	for i := range value.NumField() {
		if value.Type().Field(i).IsExported() {
			f.vary(value.Field(i))
		}
	}
}

// vary makes some of what was filled absent, zero or empty. Types with their own JSON are only made readable.
func (f *filler) vary(value reflect.Value) {
	const oneIn = 6
	if value.Type() == reflect.TypeFor[metav1.ObjectMeta]() {
		return
	}
	if hasOwnJSON(value) {
		f.makeReadable(value)
		return
	}
	chosen := !f.whole && f.random.Intn(oneIn) == 0
	switch value.Kind() {
	case reflect.Pointer:
		if chosen {
			value.SetZero()
		} else if !value.IsNil() {
			f.vary(value.Elem())
		}
	case reflect.Slice:
		if chosen {
			value.Set(reflect.MakeSlice(value.Type(), 0, 0))
		}
		for i := range value.Len() {
			f.vary(value.Index(i))
		}
	case reflect.Map:
		if chosen {
			value.Set(reflect.MakeMap(value.Type()))
		}
		keys := value.MapKeys()
		// Otherwise the same seed would make another object the next time.
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for _, key := range keys {
			element := reflect.New(value.Type().Elem()).Elem()
			element.Set(value.MapIndex(key))
			f.vary(element)
			value.SetMapIndex(key, element)
		}
	case reflect.Array:
		for i := range value.Len() {
			f.vary(value.Index(i))
		}
	case reflect.Struct:
		if chosen {
			value.SetZero()
		}
		f.varyFields(value)
	default:
		if chosen {
			value.SetZero()
		}
	}
}

// OneOf returns a function for randfill that chooses one of a string type's values, or now and then one that is none.
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

// common are functions for types whose random bytes would be no JSON, or would not come back as they were.
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
		// What this release knows nothing of has to be carried.
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
	func(r *runtime.RawExtension, c randfill.Continue) {
		*r = runtime.RawExtension{Raw: fmt.Appendf(nil, `{"raw":%d}`, c.Int())}
	},
}

// often0 is the number, or often enough 0, for which some types have a meaning or a form of its own.
func often0(c randfill.Continue, number int64) int64 {
	const oneIn = 6
	if c.Intn(oneIn) == 0 {
		return 0
	}
	return number
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

// moment is a whole second, which is what JSON keeps.
func moment(c randfill.Continue) time.Time {
	const seconds = 4e9
	return time.Unix(c.Int63n(seconds), 0).UTC()
}
