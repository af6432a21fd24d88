/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generators

import (
	"fmt"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"
)

// hub prints, for the hub, the versions that it converts to, and for the others the way of their storage types to the hub. It is apart from the
// conversions to the next version, which stay what they are when there is a newer hub.
func hub(p *printer, all *plan.Plan, version *plan.Version) {
	for _, each := range version.Structs {
		switch {
		case !each.Root:
		case version == all.Hub:
			p.hubConvertible(version, each)
		default:
			p.toHub(all, each, counterpart(all, each), "next", all.Hub.Name)
		}
	}
}

func (p *printer) hubConvertible(version *plan.Version, each *plan.Struct) {
	p.linef("// %sHubConvertible is implemented by the API types of all versions. Through it %s converts without importing them.", each.Name, version.Name)
	p.linef("type %sHubConvertible interface {", each.Name)
	p.linef("AssignToHub(hub *%s) error", each.Name)
	p.linef("AssignFromHub(hub *%s) error", each.Name)
	p.end()
}

// toHub prints the conversion of a kind, or of its storage type, to the storage type of the hub and back: an assignment to the next type on the way,
// and the conversion of that type to the hub, unless it is the hub's. The variable holds the next type; comments call the hub by the words.
func (p *printer) toHub(all *plan.Plan, from, next *plan.Struct, variable, words string) {
	hub, through := p.name(all.Hub.StoragePath(), hubKind(all, from)), p.name(next.Version.StoragePath(), next.Name)
	for _, to := range []bool{true, false} {
		name := choose(to, "To", "From")
		assign := "in.AssignProperties_" + name + "_" + next.Name
		p.linef("// Assign%sHub %s %s.", name, choose(to, "copies the object to", "fills the object from"), words)
		p.linef("func (in *%s) Assign%sHub(hub *%s) error {", from.Name, name, hub)
		if through == hub {
			p.linef("return %s(hub)", assign)
		} else {
			outer, inner := assign+"(&"+variable+")", variable+".Assign"+name+"Hub(hub)"
			p.linef("var %s %s", variable, through)
			p.linef("if err := %s; err != nil {\nreturn err\n}", choose(to, outer, inner))
			p.linef("return %s", choose(to, inner, outer))
		}
		p.end()
	}
}

// convertible prints what the conversion webhook calls. It calls the conversion to the hub of the other version, so that no API
// package has to import another.
func (p *printer) convertible(all *plan.Plan, each *plan.Struct) {
	if all.Interface == plan.ControllerRuntime {
		p.controllerRuntime(all, each)
		return
	}
	convertible := p.name(apisPackage, "Convertible")
	p.linef("var _ %s = (*%s)(nil)", convertible, each.Name)
	p.linef("")
	p.conversions(all, each, "apis.Convertible", "_ "+p.name("context", "Context")+", ", convertible)
}

// controllerRuntime prints what controller-runtime's conversion webhook calls, and the method that its admission webhooks call.
func (p *printer) controllerRuntime(all *plan.Plan, each *plan.Struct) {
	hub, implemented := p.name(ctrlPackage, "Hub"), "Convertible"
	if each.Version == all.Hub {
		implemented = "Hub"
	}
	p.linef("var _ %s = (*%s)(nil)", p.name(ctrlPackage, implemented), each.Name)
	p.linef("")
	if each.Version == all.Hub {
		p.linef("// Hub implements conversion.Hub of controller-runtime.")
		p.linef("func (*%s) Hub() {}", each.Name)
		p.linef("")
	} else {
		p.conversions(all, each, "conversion.Convertible of controller-runtime", "", hub)
	}
	p.linef("// ConversionAnnotation returns the annotation that holds what %s cannot show.", each.Version.Name)
	p.linef("func (*%s) ConversionAnnotation() %s { return %s }", each.Name, p.runtime("Annotation"), annotationVariable)
	p.linef("")
}

// conversions prints the pair of methods that convert a kind, with what their parameters begin with and the type of the other object.
func (p *printer) conversions(all *plan.Plan, each *plan.Struct, implemented, parameters, other string) {
	hubName := hubKind(all, each)
	hub := p.name(all.Hub.StoragePath(), hubName)
	hubConvertible := p.name(all.Hub.StoragePath(), hubName+"HubConvertible")
	method := func(name, parameter, cannot, source, target string) {
		p.linef("// %s implements %s.", name, implemented)
		p.linef("func (in *%s) %s(%s%s %s) (err error) {", each.Name, name, parameters, parameter, other)
		p.linef("defer %s(&err, in)", p.runtime("Recover"))
		p.linef("%s, ok := %s.(%s)", choose(source == "in", target, source), parameter, hubConvertible)
		p.linef("if !ok {\nreturn %s(%s, %s)\n}", p.name("fmt", "Errorf"), quoted(each.Version.Name+"."+each.Name+" "+cannot+" %T"), parameter)
		p.linef("var hub %s", hub)
		p.linef("if err := %s.AssignToHub(&hub); err != nil {\nreturn err\n}", source)
		p.linef("return %s.AssignFromHub(&hub)", target)
		p.end()
	}
	method("ConvertTo", "to", "cannot convert to", "in", "dst")
	method("ConvertFrom", "from", "cannot convert from", "src", "in")
}

// converters returns the functions by which tests convert a kind, called as the hub calls it.
func (p *printer) converters(all *plan.Plan, kind string) string {
	if all.Interface == plan.ControllerRuntime {
		return fmt.Sprintf("%s[%s]", p.name(runtimePackage+"/controllerruntime", "ConvertThrough"), p.name(all.Hub.Package.Path, kind))
	}
	const knative = runtimePackage + "/knative"
	return p.name(knative, "ConvertTo") + ", " + p.name(knative, "ConvertFrom")
}
