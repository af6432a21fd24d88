//go:build !peers

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package costs

import (
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }
