/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package addressbinding holds the suite of what AddressBindings do, on a local control plane with the controller and the
// webhook as they are deployed: which subjects get the variable and when they lose it, that nothing else of them changes, what is
// reported of what is in the way, and how many requests all of that is.
package addressbinding
