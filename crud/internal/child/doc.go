/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package child runs jq programs and JSON patches in a child process whose memory is limited. Their cost does not depend on the size of their
// input, and the libraries that execute them can be neither limited nor interrupted within a process. The child is the same executable again: the
// initialization of this package serves requests and ends the process before main, and before most other packages are initialized.
package child
