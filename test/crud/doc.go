/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package crud tests the operations of package crud on the local control plane: what they write, what they leave alone, how many requests
// they send, and the class of each failure. The names of tests begin with the number of the case that they show.
package crud
