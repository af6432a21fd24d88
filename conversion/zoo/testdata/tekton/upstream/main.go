/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The program converts the kinds of Tekton Pipelines as its webhook does.
package main

import (
	v1 "github.com/tektoncd/pipeline/pkg/apis/pipeline/v1"
	"github.com/tektoncd/pipeline/pkg/apis/pipeline/v1beta1"
	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/conversion/zoo/upstream"
)

func main() {
	upstream.Serve(upstream.Convertibles("v1beta1", map[string]map[string]func() apis.Convertible{
		"Pipeline": {
			"v1beta1": func() apis.Convertible { return &v1beta1.Pipeline{} },
			"v1":      func() apis.Convertible { return &v1.Pipeline{} },
		},
		"PipelineRun": {
			"v1beta1": func() apis.Convertible { return &v1beta1.PipelineRun{} },
			"v1":      func() apis.Convertible { return &v1.PipelineRun{} },
		},
		"Task": {
			"v1beta1": func() apis.Convertible { return &v1beta1.Task{} },
			"v1":      func() apis.Convertible { return &v1.Task{} },
		},
		"TaskRun": {
			"v1beta1": func() apis.Convertible { return &v1beta1.TaskRun{} },
			"v1":      func() apis.Convertible { return &v1.TaskRun{} },
		},
	}))
}
