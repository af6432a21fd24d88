/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package storage

import (
	"bytes"
	"encoding/json"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1beta2storage "example.com/clusterapi/v1beta2/storage"
)

// formerData is the annotation of objects at v1beta1 in which former conversions kept the object at v1beta2, without its metadata.
const formerData = "cluster.x-k8s.io/conversion-data"

// restore replaces each value of an object at v1beta2 by that of the annotation, unless a client changed it at v1beta1: it is then another one than that
// of the object in the annotation after the way to v1beta1 and back. What the bags hold stays.
func restore[Older, Newer any](
	dst *Newer, object *metav1.ObjectMeta, down func(*Older, *Newer) error, up func(*Older, *Newer) error,
) error {
	kept, err := parsed([]byte(object.Annotations[formerData]))
	if err != nil || kept == nil {
		return nil //nolint:nilerr // there is no annotation, or a client wrote it
	}
	now, err := values(dst)
	if err != nil {
		return err
	}
	metadata := object.DeepCopy()
	metadata.Annotations = nil
	kept["metadata"] = metadata
	var former, again Newer
	var old, shown Older
	if err := read(kept, &former); err != nil {
		return nil //nolint:nilerr // it is no object at v1beta2
	}
	if err := down(&old, &former); err != nil {
		return err
	}
	image, err := values(&old)
	if err != nil {
		return err
	}
	withoutBags(image)
	if err := read(image, &shown); err != nil {
		return err
	}
	if err := up(&shown, &again); err != nil {
		return err
	}
	base, err := values(&again)
	if err != nil {
		return err
	}
	restored, _ := merged(now, base, kept).(map[string]any)
	restored["metadata"] = now["metadata"]
	*dst = *new(Newer)
	return read(restored, dst)
}

// bag is the name of the property bags of structs.
const bag = "$propertyBag"

// merged returns the value of the annotation unless a client changed it.
func merged(now, base, kept any) any {
	nowMap, isNow := now.(map[string]any)
	baseMap, isBase := base.(map[string]any)
	keptMap, isKept := kept.(map[string]any)
	if isNow && isBase && isKept {
		result := make(map[string]any)
		for _, all := range []map[string]any{nowMap, baseMap, keptMap} {
			for name := range all {
				value := nowMap[name]
				if name != bag {
					value = merged(value, baseMap[name], keptMap[name])
				}
				if value != nil {
					result[name] = value
				}
			}
		}
		return result
	}
	nowList, isNow := now.([]any)
	baseList, isBase := base.([]any)
	keptList, isKept := kept.([]any)
	if isNow && isBase && isKept && len(nowList) == len(baseList) && len(nowList) == len(keptList) {
		result := make([]any, len(nowList))
		for i := range nowList {
			result[i] = merged(nowList[i], baseList[i], keptList[i])
		}
		return result
	}
	// A pointer may show a zero that a value of v1beta1 cannot tell from nothing.
	if reflect.DeepEqual(pruned(now), pruned(base)) {
		return kept
	}
	return now
}

// pruned returns a value without what is nothing or zero, and without bags.
func pruned(value any) any {
	switch value := value.(type) {
	case map[string]any:
		result := make(map[string]any)
		for name, each := range value {
			if each = pruned(each); each != nil && name != bag {
				result[name] = each
			}
		}
		if len(result) > 0 {
			return result
		}
	case []any:
		result := make([]any, len(value))
		for i := range value {
			result[i] = pruned(value[i])
		}
		if len(result) > 0 {
			return result
		}
	default:
		if value != false && value != "" && value != json.Number("0") {
			return value
		}
	}
	return nil
}

func withoutBags(value any) {
	switch value := value.(type) {
	case map[string]any:
		delete(value, bag)
		for _, each := range value {
			withoutBags(each)
		}
	case []any:
		for _, each := range value {
			withoutBags(each)
		}
	}
}

func values(object any) (all map[string]any, err error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return parsed(text)
}

func parsed(text []byte) (all map[string]any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return all, decoder.Decode(&all)
}

func read(all map[string]any, to any) error {
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}

// AssignPropertiesTo restores what former conversions kept.
func (in *Cluster) AssignPropertiesTo(dst *v1beta2storage.Cluster) error {
	return restore(dst, &in.ObjectMeta, (*Cluster).AssignProperties_From_Cluster, (*Cluster).AssignProperties_To_Cluster)
}

// AssignPropertiesFrom has nothing to keep: v1beta2 has no annotations of former conversions.
func (in *Cluster) AssignPropertiesFrom(*v1beta2storage.Cluster) error { return nil }

// AssignPropertiesTo restores what former conversions kept.
func (in *ClusterClass) AssignPropertiesTo(dst *v1beta2storage.ClusterClass) error {
	return restore(dst, &in.ObjectMeta, (*ClusterClass).AssignProperties_From_ClusterClass, (*ClusterClass).AssignProperties_To_ClusterClass)
}

// AssignPropertiesFrom has nothing to keep: v1beta2 has no annotations of former conversions.
func (in *ClusterClass) AssignPropertiesFrom(*v1beta2storage.ClusterClass) error { return nil }

// AssignPropertiesTo restores what former conversions kept.
func (in *Machine) AssignPropertiesTo(dst *v1beta2storage.Machine) error {
	return restore(dst, &in.ObjectMeta, (*Machine).AssignProperties_From_Machine, (*Machine).AssignProperties_To_Machine)
}

// AssignPropertiesFrom has nothing to keep: v1beta2 has no annotations of former conversions.
func (in *Machine) AssignPropertiesFrom(*v1beta2storage.Machine) error { return nil }

// AssignPropertiesTo restores what former conversions kept.
func (in *MachineDeployment) AssignPropertiesTo(dst *v1beta2storage.MachineDeployment) error {
	return restore(dst, &in.ObjectMeta, (*MachineDeployment).AssignProperties_From_MachineDeployment, (*MachineDeployment).AssignProperties_To_MachineDeployment)
}

// AssignPropertiesFrom has nothing to keep: v1beta2 has no annotations of former conversions.
func (in *MachineDeployment) AssignPropertiesFrom(*v1beta2storage.MachineDeployment) error {
	return nil
}

// AssignPropertiesTo restores what former conversions kept.
func (in *MachineDrainRule) AssignPropertiesTo(dst *v1beta2storage.MachineDrainRule) error {
	return restore(dst, &in.ObjectMeta, (*MachineDrainRule).AssignProperties_From_MachineDrainRule, (*MachineDrainRule).AssignProperties_To_MachineDrainRule)
}

// AssignPropertiesFrom has nothing to keep: v1beta2 has no annotations of former conversions.
func (in *MachineDrainRule) AssignPropertiesFrom(*v1beta2storage.MachineDrainRule) error { return nil }

// AssignPropertiesTo restores what former conversions kept.
func (in *MachineHealthCheck) AssignPropertiesTo(dst *v1beta2storage.MachineHealthCheck) error {
	return restore(dst, &in.ObjectMeta, (*MachineHealthCheck).AssignProperties_From_MachineHealthCheck, (*MachineHealthCheck).AssignProperties_To_MachineHealthCheck)
}

// AssignPropertiesFrom has nothing to keep: v1beta2 has no annotations of former conversions.
func (in *MachineHealthCheck) AssignPropertiesFrom(*v1beta2storage.MachineHealthCheck) error {
	return nil
}

// AssignPropertiesTo restores what former conversions kept.
func (in *MachinePool) AssignPropertiesTo(dst *v1beta2storage.MachinePool) error {
	return restore(dst, &in.ObjectMeta, (*MachinePool).AssignProperties_From_MachinePool, (*MachinePool).AssignProperties_To_MachinePool)
}

// AssignPropertiesFrom has nothing to keep: v1beta2 has no annotations of former conversions.
func (in *MachinePool) AssignPropertiesFrom(*v1beta2storage.MachinePool) error { return nil }

// AssignPropertiesTo restores what former conversions kept.
func (in *MachineSet) AssignPropertiesTo(dst *v1beta2storage.MachineSet) error {
	return restore(dst, &in.ObjectMeta, (*MachineSet).AssignProperties_From_MachineSet, (*MachineSet).AssignProperties_To_MachineSet)
}

// AssignPropertiesFrom has nothing to keep: v1beta2 has no annotations of former conversions.
func (in *MachineSet) AssignPropertiesFrom(*v1beta2storage.MachineSet) error { return nil }
