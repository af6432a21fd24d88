/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

// Dropped returns the fields whose values do not survive the way to the hub or from it, because a version on that way drops
// them on purpose.
func (p *Plan) Dropped() map[*Field]bool {
	onTheWayUp, onTheWayDown := make(map[*Field]bool), make(map[*Field]bool)
	for range p.Links { // what is dropped at one link is lost for the versions beyond it, link by link
		for _, link := range p.Links {
			for _, pair := range link.Pairs {
				for _, each := range pair.Fields {
					each.dropped(onTheWayUp, onTheWayDown)
				}
			}
		}
	}
	for field := range onTheWayDown {
		onTheWayUp[field] = true
	}
	return onTheWayUp
}

func (f *FieldPlan) dropped(up, down map[*Field]bool) {
	switch f.Fate {
	case DroppedOlder:
		up[f.Older] = true
	case DroppedNewer:
		down[f.Newer.Last().Field] = true
	case Converted:
		newer := f.Newer.Last().Field
		if newer == nil {
			return
		}
		if up[newer] {
			up[f.Older] = true
		}
		if down[f.Older] {
			down[newer] = true
		}
	case StashedOlder, StashedNewer, AugmentedOlder, AugmentedNewer:
	}
}
