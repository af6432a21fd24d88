/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generators

import (
	"fmt"
	"strings"
)

type kind int

const (
	set kind = iota
	cast
	deepCopy
	call
	apply
	applyWhole
	raw
	ofPointer
	// fromPointer and toPointer have a pointer to a list or map at one end, and the list or map itself at the other.
	fromPointer
	toPointer
	ofSlice
	ofArray
	ofMap
)

// operation copies a value of one type into one of another, without sharing memory.
type operation struct {
	kind kind
	// target writes the type of the copy, and imports what that needs.
	target func() string
	elem   *operation
	// nilable is set for types of other modules that can be nil, whose DeepCopyInto would make something of nothing.
	nilable bool
	// call writes the call that fills a struct. The expressions are pointers; at is the place in the annotation, if any.
	call func(dst, src, at string)
	// apply writes the call that returns the value and whether it is exact; exact is the variable that takes note.
	apply func(src string) string
	exact string
	// key, for a map, casts a key of the source to one of the target; name casts it to a string.
	key, name func(key string) string
	// list, for a list, is the call that finds the places of its elements, given the place and the list of the API type.
	list func(at, dst, src string) string
}

// isList reports whether the operation copies a list or map element by element.
func (o *operation) isList() bool { return o.kind == ofSlice || o.kind == ofMap }

// calls reports whether the operation needs to know its place in the annotation.
func (o *operation) calls() bool {
	for o.elem != nil {
		o = o.elem
	}
	return o.kind == call
}

// copied writes an operation. At is an expression for the place in the annotation, evaluated at most once; it is empty
// between storage types. Destinations are nil, or zero, before.
func (p *printer) copied(o *operation, dst, src, at string, depth int) {
	switch o.kind {
	case set:
		p.linef("%s = %s", dst, src)
	case cast:
		p.linef("%s = %s(%s)", dst, o.target(), src)
	case deepCopy:
		p.deepCopied(o, dst, src)
	case call:
		o.call(address(dst), address(src), at)
	case apply:
		p.linef("converted, same := %s", o.apply(src))
		p.linef("%s, %s = converted, %s && same", dst, o.exact, o.exact)
	case applyWhole:
		p.linef("%s, %s = %s", dst, o.exact, o.apply(src))
	case raw:
		p.linef("%s = %s(%s)", dst, p.runtime("Raw"), src)
	case ofPointer:
		p.pointer(o, dst, src, at, depth)
	case fromPointer:
		p.linef("if %s != nil {", src)
		p.elements(o.elem, dst, "*"+src, at, depth)
		p.linef("}")
	case toPointer:
		p.linef("if %s != nil {", src)
		p.linef("%s = new(%s)", dst, o.elem.target())
		p.elements(o.elem, "*"+dst, src, at, depth)
		p.linef("}")
	case ofSlice, ofMap:
		if o.kind == ofMap && o.elem.kind == set && o.key == nil {
			p.linef("%s = %s(%s)", dst, p.name("maps", "Clone"), src)
			return
		}
		p.linef("if %s != nil {", src)
		p.elements(o, dst, src, at, depth)
		p.linef("}")
	case ofArray:
		p.loop(o, dst, src, at, depth)
	}
}

func (p *printer) deepCopied(o *operation, dst, src string) {
	text := fmt.Sprintf("%s.DeepCopyInto(%s)", object(src), address(dst))
	if o.nilable {
		text = fmt.Sprintf("if %s != nil {\n%s\n}", src, text)
	}
	p.linef("%s", text)
}

func (p *printer) pointer(o *operation, dst, src, at string, depth int) {
	if o.elem.kind == set {
		p.linef("%s = %s(%s)", dst, p.runtime("Pointer"), src)
		return
	}
	p.linef("if %s != nil {", src)
	p.linef("%s = new(%s)", dst, strings.TrimPrefix(o.target(), "*"))
	p.copied(o.elem, "*"+dst, "*"+src, at, depth)
	p.linef("}")
}

// elements writes the copy of a list or map that is not nil.
func (p *printer) elements(o *operation, dst, src, at string, depth int) {
	if o.kind == raw {
		p.copied(o, dst, src, at, depth)
		return
	}
	p.linef("%s = make(%s, len(%s))", dst, o.target(), src)
	switch {
	case o.kind == ofMap:
		p.values(o, dst, src, at, depth)
	case o.elem.kind == set:
		p.linef("copy(%s, %s)", dst, src)
	default:
		p.loop(o, dst, src, at, depth)
	}
}

// loop writes the copy of a list's or an array's elements, one after the other.
func (p *printer) loop(o *operation, dst, src, at string, depth int) {
	index, place := numbered("i", depth), ""
	if at != "" && o.calls() {
		all := numbered("all", depth)
		whole := indexed
		if o.kind == ofArray {
			whole = func(expression string) string { return indexed(expression) + "[:]" }
		}
		p.linef("%s := %s", all, o.list(at, whole(dst), whole(src)))
		place = fmt.Sprintf("%s.At(%s)", all, index)
	}
	p.linef("for %s := range %s {", index, indexed(src))
	p.copied(o.elem, fmt.Sprintf("%s[%s]", indexed(dst), index), fmt.Sprintf("%s[%s]", indexed(src), index), place, depth+1)
	p.linef("}")
}

func (p *printer) values(o *operation, dst, src, at string, depth int) {
	key, value, converted, place := numbered("key", depth), numbered("value", depth), numbered("element", depth), ""
	if at != "" && o.calls() {
		here := numbered("at", depth)
		p.linef("%s := %s", here, at)
		name := key
		if o.name != nil {
			name = o.name(key)
		}
		place = fmt.Sprintf("%s.Key(%s)", here, name)
	}
	p.linef("for %s, %s := range %s {", key, value, indexed(src))
	p.linef("var %s %s", converted, o.elem.target())
	p.copied(o.elem, converted, value, place, depth+1)
	if o.key != nil {
		key = o.key(key)
	}
	p.linef("%s[%s] = %s", indexed(dst), key, converted)
	p.linef("}")
}

// numbered keeps variables of nested loops apart.
func numbered(name string, depth int) string {
	if depth == 0 {
		return name
	}
	return fmt.Sprintf("%s%d", name, depth+1)
}
