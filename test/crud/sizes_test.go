//go:build !nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import "net/http"

// killedEach is the distance of the requests around which a process is killed.
const killedEach = 10

// randomPlans is the number of plans that run with and without preflight.
const randomPlans = 24

// answerCodes are the codes with which writes are answered, and 0 for no answer.
var answerCodes = []int{0, http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable}
