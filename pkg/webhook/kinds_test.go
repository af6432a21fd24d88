/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	clientscheme "github.com/mallard-dev/mallard/pkg/client/clientset/versioned/scheme"
)

// A kind that is missing in kinds() would be stored as it comes. The generated
// clientset knows every kind there is.
func TestEveryKindIsCompletedAndChecked(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := clientscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	served, found := kinds(), 0
	for gvk, goType := range scheme.AllKnownTypes() {
		if !strings.Contains(goType.PkgPath(), "/pkg/apis/samples/") || strings.HasSuffix(gvk.Kind, "List") {
			continue
		}
		found++
		handler, ok := served[gvk]
		if !ok {
			t.Errorf("kinds() lacks %s", gvk)
			continue
		}
		if got := reflect.TypeOf(handler).Elem(); got != goType {
			t.Errorf("kinds() reads %s as %s, want %s", gvk, got, goType)
		}
	}
	if found != len(served) {
		t.Errorf("the clientset has %d kinds, kinds() has %d", found, len(served))
	}
}
