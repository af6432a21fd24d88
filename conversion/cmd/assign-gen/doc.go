/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command assign-gen generates conversions between the versions of an API, so that nothing is lost whichever version an
// object is read and written at, and leaves to hand-written hooks what it cannot know.
//
//	go run github.com/mallard-dev/mallard/conversion/cmd/assign-gen \
//	    --input-dirs ./apis/v1alpha1,./apis/v1beta1,./apis/v1 --go-header-file hack/boilerplate.go.txt
//
// Beside each API type it makes a storage type, which exists in memory only, and converts along this way:
//
//	v1alpha1 ─ v1alpha1/storage ─ v1beta1/storage ─ v1/storage ─ v1
//
// Fields correspond by their names in Go. What a version has no field for is kept in a property bag, and in an annotation
// while an object is shown at that version; conversion does that. A difference that it can neither convert nor keep is
// an error. All errors are reported at once, sorted, each with the ways out; then nothing is written, and the exit status is
// not 0.
//
// # Flags
//
//	-i, --input-dirs       API packages, one for each version, as import paths or folders, separated by commas
//	-h, --go-header-file   file with the comment that generated Go files begin with
//	    --report-file      report of every field's fate (zz_generated.conversion-report.md)
//	    --lock-file        list of what objects carry in their annotation (conversion.lock)
//	    --round-trip-dir   folder of the tests that take objects through all versions (roundtrip); empty for none
//
// The last three are relative to the folder above the hub's package.
//
// # What is written
//
//	VERSION/zz_generated.conversion.go               ConvertTo and ConvertFrom, and the way to the storage types
//	VERSION/storage/zz_generated.types.go            the storage types
//	VERSION/storage/zz_generated.conversion.go       AssignProperties_To_… and _From_… for every struct, and the interfaces of hooks
//	VERSION/storage/zz_generated.hub.go              the way to the hub
//	VERSION/storage/zz_generated.conversion_test.go  round trips of every struct, and a search for hooks that are never called
//	roundtrip/zz_generated.roundtrip_test.go         every kind through every two and every three versions
//	zz_generated.conversion-report.md                what becomes of every field
//	conversion.lock                                  what released objects carry; a changed line is an error
//
// A package's doc.go is not written: each package, storage packages too, says itself what it is for. Files in an API package
// must not import a storage package.
//
// # Markers of packages, in doc.go
//
//	+conversion-gen:next=IMPORT/PATH    the next newer version, at each version but the hub
//	+conversion-gen:hub                 the version that is stored, and that all conversions go through
//	+conversion-gen:annotation=NAME     the annotation, at the hub
//	+conversion-gen:retired=V,V         versions that are gone, at the hub; what is kept for them is dropped
//
// # Markers of types
//
//	+conversion:name=NewName            what the type is called in the next version
//	+conversion:augment                 a hook is mandatory: the storage package does not compile without it
//	+conversion:skip                    the type is not converted, nor may a type that is converted use it
//	+conversion:skip=V,V                the versions that do not have this kind, on purpose
//
// # Markers of fields
//
// All but two speak of the way to the next version, and stand at the older field:
//
//	+conversion:rename=NewField         what the field is called there
//	+conversion:rename=Struct.Field     where it is there, through structs by value
//	+conversion:enum=OLD:NEW,fallback=OLD
//	                                    what values are called there; newer ones that are not named show as the fallback
//	+conversion:strategy=augment        the field is left to the hook, which becomes mandatory
//	+conversion:strategy=stash          the field is kept in the bag, even if there is one of its name
//	+conversion:strategy=drop,reason=…  the field is lost there
//
// These two speak of the way to the older version, and stand at a newer field that it lacks:
//
//	+conversion:older=augment, =stash or =drop,reason=…
//	                                    the same as strategy
//	+conversion:basis=Field,Field       older fields that the stash holds good for: when one of them is changed at the older
//	                                    version, what was kept is out of date and dropped
//
// And these speak of neither:
//
//	+conversion:sensitive               the field must never be kept in the annotation
//	+conversion:positional              elements of the list may be recognised by position and content
//	+listType=map, +listMapKey=NAME     what elements of the list are recognised by; they are Kubernetes' own
//
// # Hooks
//
// A hook is a pair of methods of a storage type of the older version, in a file beside the generated ones:
//
//	func (in *WidgetSpec) AssignPropertiesTo(dst *v1storage.WidgetSpec) error
//	func (in *WidgetSpec) AssignPropertiesFrom(src *v1storage.WidgetSpec) error
//
// It is called after the generated assignment, once for each struct, also inside of lists and maps. It changes only its
// destination, and the bag is the destination's too: dst.PropertyBag in the first, in.PropertyBag in the second. Keys are
// generated as constants. An error makes the object, and every list with it, unreadable; it is for what cannot happen.
package main
