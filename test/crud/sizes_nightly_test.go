//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import "net/http"

// killedEach is the distance of the requests around which a process is killed: every night it is killed around each.
const killedEach = 1

// randomPlans is the number of plans that run with and without preflight.
const randomPlans = 500

// answerCodes are the codes with which writes are answered, and 0 for no answer.
var answerCodes = []int{
	0, http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusRequestTimeout, http.StatusConflict,
	http.StatusGone, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
	http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusLoopDetected,
}
