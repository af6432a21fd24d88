/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package samples

import "k8s.io/apimachinery/pkg/runtime/schema"

// GroupName is the API group of the samples. It is the group of Knative's sample-controller, so that manifests written for that one apply here.
const GroupName = "samples.knative.dev"

// Kind returns a kind of the group.
func Kind(kind string) schema.GroupKind { return schema.GroupKind{Group: GroupName, Kind: kind} }
