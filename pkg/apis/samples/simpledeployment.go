/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package samples

const (
	// PodOwnerUIDLabelKey labels a Pod with the UID of the SimpleDeployment that made it. By it the operator watches these Pods and no
	// others, and by it Services and autoscalers find them. Whether a Pod is ours depends on its controller reference, not on this label.
	PodOwnerUIDLabelKey = GroupName + "/simpledeployment-uid"

	// PodOwnerNameLabelKey labels a Pod with the name of the SimpleDeployment that made it, for the selectors of Services. A name
	// of more than 63 characters is shortened.
	PodOwnerNameLabelKey = GroupName + "/simpledeployment"

	// PodRevisionLabelKey labels a Pod with what it was made from, as a hash.
	PodRevisionLabelKey = GroupName + "/simpledeployment-revision"
)
