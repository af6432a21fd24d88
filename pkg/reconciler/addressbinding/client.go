/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"context"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/client/clientset/versioned"
	typedv1 "github.com/mallard-dev/mallard/pkg/client/clientset/versioned/typed/samples/v1"
	"github.com/mallard-dev/mallard/pkg/client/injection/client"
	"github.com/mallard-dev/mallard/pkg/freshness"
)

// withRecordedWrites returns a context whose client records what the generated
// reconciler writes: it throws the answers of the API server away, which alone say
// what version its write made.
func withRecordedWrites(ctx context.Context, writes *freshness.Writes) context.Context {
	return context.WithValue(ctx, client.Key{}, recordingClientset{Interface: client.Get(ctx), writes: writes})
}

type recordingClientset struct {
	versioned.Interface

	writes *freshness.Writes
}

func (c recordingClientset) SamplesV1() typedv1.SamplesV1Interface {
	return recordingGroup{SamplesV1Interface: c.Interface.SamplesV1(), writes: c.writes}
}

type recordingGroup struct {
	typedv1.SamplesV1Interface

	writes *freshness.Writes
}

func (g recordingGroup) AddressBindings(namespace string) typedv1.AddressBindingInterface {
	client := g.SamplesV1Interface.AddressBindings(namespace)
	return recordingClient{Recorder: freshness.NewRecorder(client, g.writes), deeper: deeper{client}}
}

// recordingClient takes the writes from the Recorder, and what is one level deeper from the client itself.
type recordingClient struct {
	freshness.Recorder[*v1.AddressBinding]
	deeper
}

type deeper struct {
	typedv1.AddressBindingInterface
}
