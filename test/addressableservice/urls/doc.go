/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package urls holds the table of URLs in docs/reference/api/addressableservice.md: for each sort of Service the URL with which a client
// reaches it, or the reason and the message of the condition. The reconciler's unit test and the suite run every row.
package urls
