/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package urls holds the table of URLs in docs/reference/api/addressableservice.md: for each sort of Service the URL with which a client
// reaches it, or the reason and the message of the condition. The reconciler's unit test and the suite run every row.
package urls

import (
	_ "embed"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

//go:embed urls.txt
var table string

// Row is one row of the table.
type Row struct {
	// Spec is that of the Service, as a user writes it, and Ports are the entries of spec.ports.
	Spec, Ports string
	// URL is empty if there is a Reason with a Message.
	URL, Reason, Message string
}

// Rows returns the rows for a Service of this name and namespace.
func Rows(t *testing.T, name, namespace string) []Row {
	t.Helper()
	var rows []Row
	for line := range strings.Lines(strings.ReplaceAll(table, "Service target", "Service "+name)) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if len(cells) != 3 {
			t.Fatalf("the row has %d cells, not the Service, the entry of spec.ports and the result: %s", len(cells), line)
		}
		row := Row{Spec: "{" + strings.Trim(cells[0], "`") + "}", Ports: "[" + strings.Trim(cells[1], "`–") + "]"}
		if reason, message, ok := strings.Cut(cells[2], "`: "); ok {
			row.Reason, row.Message = strings.Trim(reason, "`"), message
		} else {
			row.URL = strings.Replace(strings.Trim(cells[2], "`"), "HOST", name+"."+namespace+".svc.cluster.local", 1)
		}
		rows = append(rows, row)
	}
	return rows
}

// Lasts reports whether an API server that has IPv4 only creates a Service as it is in the row, and keeps it so.
func (r Row) Lasts() bool {
	rare := []string{"deletionTimestamp", `clusterIP: ""`, "IPv6", "RequireDualStack"}
	return !slices.ContainsFunc(rare, func(text string) bool { return strings.Contains(r.Spec, text) })
}

// Service returns the Service of a row as the API server would store it: with a cluster IP, and with TCP for the protocol of a port.
func (r Row) Service(t *testing.T, meta metav1.ObjectMeta) *corev1.Service {
	t.Helper()
	service := &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, ClusterIP: "10.0.0.1"}}
	stored := struct {
		*corev1.ServiceSpec `json:",inline"`
		DeletionTimestamp   *metav1.Time `json:"deletionTimestamp"`
	}{ServiceSpec: &service.Spec}
	if err := yaml.UnmarshalStrict([]byte(r.Spec), &stored); err != nil {
		t.Fatalf("the Service %s: %v", r.Spec, err)
	}
	service.DeletionTimestamp = stored.DeletionTimestamp
	if service.Spec.Type == corev1.ServiceTypeExternalName {
		service.Spec.ClusterIP = ""
	}
	for i := range service.Spec.Ports {
		if p := &service.Spec.Ports[i]; p.Protocol == "" {
			p.Protocol = corev1.ProtocolTCP
		}
	}
	return service
}
