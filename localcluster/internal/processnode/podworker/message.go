/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package podworker

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/util/tail"

	"github.com/mallard-dev/mallard/localcluster/internal/processnode/logs"
)

// How much of what an ended container has left to say is reported, as kubelets do (pkg/kubelet/container,
// MaxContainerTerminationMessage…).
const (
	// maxMessage is for the file in which it says so, and maxLogMessage for its log, both in bytes.
	maxMessage    = 4096
	maxLogMessage = 2048
	// maxLogLines is for its log too.
	maxLogLines = 80
)

// terminationMessage returns the end of the file in which a program states why it ended. If that file is empty, and the program has failed
// and its Pod requests it, it returns the end of the log.
func (e *execution) terminationMessage(policy corev1.TerminationMessagePolicy, failed bool) string {
	data, _, err := tail.ReadAtMost(e.messages, maxMessage)
	switch {
	case len(data) > 0:
		return text(data)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		// Kubelets report the error in place of the message.
		return "Error on reading termination log " + e.messages + ": " + err.Error()
	}
	if policy != corev1.TerminationMessageFallbackToLogsOnError || !failed {
		return ""
	}
	lines := int64(maxLogLines)
	ended := func() bool { return false }
	var said bytes.Buffer
	// The process has ended, so that there is nothing to wait for.
	err = logs.Read(context.Background(), e.log.Path(), &corev1.PodLogOptions{TailLines: &lines}, ended, &said)
	if err != nil {
		return "Error on reading termination message from logs: " + err.Error()
	}
	return text(said.Bytes()[max(said.Len()-maxLogMessage, 0):])
}

// text is the end of a text, which may begin within a character, as the API can carry it.
func text(end []byte) string { return strings.ToValidUTF8(string(end), "") }
