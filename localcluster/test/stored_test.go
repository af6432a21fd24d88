/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"encoding/json"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestAPI_StoredObjects_AreInEtcd reads etcd directly.
func TestAPI_StoredObjects_AreInEtcd(t *testing.T) {
	p := sharedCluster(t)
	namespace := newNamespace(t, p.client(t))
	made, err := p.client(t).CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "looked-at"}, Data: map[string]string{"color": "green"},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	key := "/registry/configmaps/" + namespace + "/looked-at"
	out, err := exec.Command(binary, "stored", "--dir", p.dir(), key).Output()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Key      string `json:"key"`
		Revision int64  `json:"revision"`
		Value    []byte `json:"value"`
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("it prints %q: %v", out, err)
	}
	if got.Key != key || strconv.FormatInt(got.Revision, 10) != made.ResourceVersion || !strings.Contains(string(got.Value), "green") {
		t.Errorf("etcd has %q at %s, written in revision %d, want %s", got.Value, got.Key, got.Revision, made.ResourceVersion)
	}
	if out, err := exec.Command(binary, "stored", "--dir", p.dir(), "/registry/nothing").Output(); err != nil || len(out) > 0 {
		t.Errorf("of nothing it prints %q, %v", out, err)
	}
}
