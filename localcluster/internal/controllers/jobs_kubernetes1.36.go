//go:build kubernetes1.36

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	"context"

	batchinformers "k8s.io/client-go/informers/batch/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/controller/job"
)

func newJobController(
	ctx context.Context, pods coreinformers.PodInformer, jobs batchinformers.JobInformer, client kubernetes.Interface,
) (*job.Controller, error) {
	// It needs the others only when the feature WorkloadWithJob is on.
	return job.NewController(ctx, client, pods, jobs, nil, nil) //nolint:wrapcheck // by the caller
}
