/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package chromium

import (
	"strings"
	"testing"
)

func TestFind_NoBrowser_ErrorNamesPackageAndVariable(t *testing.T) {
	t.Setenv(Variable, "/no/such/browser")
	_, err := Find()
	if err == nil || !strings.Contains(err.Error(), "/no/such/browser") || !strings.Contains(err.Error(), "apt-get install chromium") ||
		!strings.Contains(err.Error(), "set CHROMIUM") {
		t.Errorf("got %v", err)
	}
}
