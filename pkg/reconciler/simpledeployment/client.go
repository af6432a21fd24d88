/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"context"

	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/pkg/client/clientset/versioned"
	typedv1alpha1 "github.com/mallard-dev/mallard/pkg/client/clientset/versioned/typed/samples/v1alpha1"
	"github.com/mallard-dev/mallard/pkg/client/injection/client"
	"github.com/mallard-dev/mallard/pkg/freshness"
)

// withRecordedWrites returns a context whose client records what the generated reconciler writes; see freshness.Recorder.
func withRecordedWrites(ctx context.Context, writes *freshness.Writes) context.Context {
	return context.WithValue(ctx, client.Key{}, recordingClientset{Interface: client.Get(ctx), writes: writes})
}

type recordingClientset struct {
	versioned.Interface

	writes *freshness.Writes
}

func (c recordingClientset) SamplesV1alpha1() typedv1alpha1.SamplesV1alpha1Interface {
	return recordingGroup{SamplesV1alpha1Interface: c.Interface.SamplesV1alpha1(), writes: c.writes}
}

type recordingGroup struct {
	typedv1alpha1.SamplesV1alpha1Interface

	writes *freshness.Writes
}

func (g recordingGroup) SimpleDeployments(namespace string) typedv1alpha1.SimpleDeploymentInterface {
	client := g.SamplesV1alpha1Interface.SimpleDeployments(namespace)
	return recordingClient{Recorder: freshness.NewRecorder(client, g.writes), deeper: deeper{client}}
}

// recordingClient takes the writes from the Recorder, and what is one level deeper from the client itself.
type recordingClient struct {
	freshness.Recorder[*v1alpha1.SimpleDeployment]
	deeper
}

type deeper struct {
	typedv1alpha1.SimpleDeploymentInterface
}
