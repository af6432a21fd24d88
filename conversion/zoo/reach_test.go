/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zoo

import (
	"fmt"
	"go/ast"
	"go/types"
)

// keep marks a type of a package, and everything that it needs, for copying.
func (e *extractor) keep(path, name string) error {
	found := e.sources[path].checked.Scope().Lookup(name)
	if found == nil || e.units[found] == nil {
		return fmt.Errorf("package %s declares no type %s", path, name)
	}
	e.visit(found)
	return nil
}

// visit keeps the declaration of an object and everything that the declaration refers to.
func (e *extractor) visit(object types.Object) {
	if function, ok := object.(*types.Func); ok {
		object = function.Origin()
	}
	found := e.units[object]
	if found == nil || e.kept[found] {
		return
	}
	e.kept[found] = true
	if name, ok := object.(*types.TypeName); ok {
		e.visitType(found.source, name)
	}
	ast.Inspect(found.node, func(node ast.Node) bool {
		if identifier, ok := node.(*ast.Ident); ok {
			if used := found.source.info.Uses[identifier]; used != nil {
				e.visit(used)
			}
		}
		return true
	})
}

// visitType keeps the methods that come with a type, and its constants.
func (e *extractor) visitType(s *source, name *types.TypeName) {
	named, ok := name.Type().(*types.Named)
	if !ok || name.IsAlias() {
		return
	}
	for method := range named.Methods() {
		if keptMethods[method.Name()] {
			e.visit(method)
		}
	}
	for _, each := range s.checked.Scope().Names() {
		if constant, ok := s.checked.Scope().Lookup(each).(*types.Const); ok && constant.Type() == name.Type() {
			e.visit(constant)
		}
	}
}
