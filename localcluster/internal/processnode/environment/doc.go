/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package environment resolves what a container's process finds in its environment and as its arguments, as a kubelet
// does, and with a kubelet's errors. It gives no variables for the Services of the namespace except the API server's, for
// their cluster addresses lead nowhere here.
package environment
