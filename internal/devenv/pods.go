/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package devenv

import (
	"context"
	"fmt"
	"strings"
	"time"
)

const (
	// describeTimeout bounds the questions to an API server that may be the problem itself.
	describeTimeout = 10 * time.Second
	// describedLines is how many last lines of a container are shown.
	describedLines = "15"
)

// SystemNamespace is the namespace of the operator's first Deployment.
func (e *Env) SystemNamespace() string {
	for _, object := range e.Manifests {
		if object.GetKind() == "Deployment" {
			return object.GetNamespace()
		}
	}
	return ""
}

// DescribePods says for people how the Pods of the system namespace are, and what their containers said last: also before
// they were started again. What goes wrong meanwhile becomes part of the text, for it is itself a diagnosis.
func (e *Env) DescribePods(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	// No Pod has this label: kubectl wants a selector.
	logs := []string{"logs", "--selector", "!" + registryHosting, "--all-containers", "--prefix", "--ignore-errors", "--tail", describedLines}
	var out strings.Builder
	for _, args := range [][]string{{"describe", "pods"}, logs, append(logs, "--previous")} {
		text, err := e.Kubectl(ctx, nil, append(args, "--namespace", e.SystemNamespace())...)
		out.WriteString(text)
		if err != nil {
			fmt.Fprintln(&out, err)
		}
	}
	return out.String()
}
