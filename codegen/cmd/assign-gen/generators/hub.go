/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generators

import "github.com/mallard-dev/mallard/codegen/cmd/assign-gen/plan"

// hub prints, for the hub, what other versions can be asked for, and for the others the way of their storage types to the
// hub. It is apart from the conversions to the next version, which stay what they are when there is a newer hub.
func hub(p *printer, all *plan.Plan, version *plan.Version) {
	for _, each := range version.Structs {
		switch {
		case !each.Root:
		case version == all.Hub:
			p.hubConvertible(version, each)
		default:
			p.way(all, each)
		}
	}
}

func (p *printer) hubConvertible(version *plan.Version, each *plan.Struct) {
	p.linef("// %sHubConvertible is implemented by the API types of all versions. Through it %s converts without importing them.", each.Name, version.Name)
	p.linef("type %sHubConvertible interface {", each.Name)
	p.linef("AssignToHub(hub *%s) error", each.Name)
	p.linef("AssignFromHub(hub *%s) error", each.Name)
	p.linef("}")
	p.linef("")
}

func (p *printer) way(all *plan.Plan, each *plan.Struct) {
	newer := counterpart(all, each)
	last := newer.Version == all.Hub
	hubType := p.name(all.Hub.StoragePath(), hubKind(all, each))
	p.linef("// AssignToHub copies the object to %s.", all.Hub.Name)
	p.linef("func (in *%s) AssignToHub(hub *%s) error {", each.Name, hubType)
	if last {
		p.linef("return in.AssignProperties_To_%s(hub)", newer.Name)
	} else {
		p.linef("var next %s", p.name(newer.Version.StoragePath(), newer.Name))
		p.linef("if err := in.AssignProperties_To_%s(&next); err != nil {\nreturn err\n}", newer.Name)
		p.linef("return next.AssignToHub(hub)")
	}
	p.linef("}")
	p.linef("")
	p.linef("// AssignFromHub fills the object from %s.", all.Hub.Name)
	p.linef("func (in *%s) AssignFromHub(hub *%s) error {", each.Name, hubType)
	if last {
		p.linef("return in.AssignProperties_From_%s(hub)", newer.Name)
	} else {
		p.linef("var next %s", p.name(newer.Version.StoragePath(), newer.Name))
		p.linef("if err := next.AssignFromHub(hub); err != nil {\nreturn err\n}")
		p.linef("return in.AssignProperties_From_%s(&next)", newer.Name)
	}
	p.linef("}")
	p.linef("")
}
