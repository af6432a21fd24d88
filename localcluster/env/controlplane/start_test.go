/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

import (
	"net"
	"strconv"
	"strings"
	"testing"
)

func TestCluster_StartFails_ReportsTheCause(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), Options{Port: number}); err == nil || !strings.Contains(err.Error(), "--port "+port+" is taken") {
		t.Errorf("with a port that is taken: %v", err)
	}
	if _, err := Start(t.Context(), Options{Binary: "/nothing/here"}); err == nil || !strings.Contains(err.Error(), "/nothing/here") {
		t.Errorf("with a program that does not exist: %v", err)
	}
}
