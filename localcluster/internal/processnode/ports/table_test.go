/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package ports

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestTable_Pods_GetDistinctPorts(t *testing.T) {
	table := NewTable()
	pod := func(uid string) *corev1.Pod {
		p := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Ports: []corev1.ContainerPort{{ContainerPort: 8080}, {ContainerPort: 9090}},
			Env:   []corev1.EnvVar{{Name: "PORT", Value: "8080"}},
		}}}}
		p.UID = types.UID(uid)
		return p
	}
	first, err := table.Add(t.Context(), pod("first"), "10.244.0.2")
	if err != nil {
		t.Fatal(err)
	}
	second, err := table.Add(t.Context(), pod("second"), "10.244.0.3")
	if err != nil {
		t.Fatal(err)
	}
	if first[8080] == 8080 || first[8080] == second[8080] || first[9090] != 9090 {
		t.Errorf("the ports are %v and %v", first, second)
	}
	if Rewrite("8080", first) == "8080" || Rewrite("08080", first) != "08080" || Rewrite("8081", first) != "8081" || Rewrite("x", first) != "x" {
		t.Errorf("values are not rewritten as they should: %v", first)
	}
	if address, ok := table.Lookup("10.244.0.3", 9090); !ok || address != "127.0.0.1:9090" {
		t.Errorf("the address is %s, %t", address, ok)
	}
	table.Remove(pod("second").UID, "10.244.0.3")
	if _, ok := table.Lookup("10.244.0.3", 9090); ok {
		t.Error("a deleted Pod is still known")
	}
}
