/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

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

func (g recordingGroup) AddressableServices(namespace string) typedv1.AddressableServiceInterface {
	return recordingClient{AddressableServiceInterface: g.SamplesV1Interface.AddressableServices(namespace), writes: g.writes}
}

// recordingClient records the two writes that the generated reconciler makes.
type recordingClient struct {
	typedv1.AddressableServiceInterface

	writes *freshness.Writes
}

func (c recordingClient) UpdateStatus(ctx context.Context, as *v1.AddressableService, opts metav1.UpdateOptions) (*v1.AddressableService, error) {
	written, err := c.AddressableServiceInterface.UpdateStatus(ctx, as, opts)
	if err == nil {
		c.writes.Record(written)
	}
	return written, err
}

func (c recordingClient) Patch(
	ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string,
) (*v1.AddressableService, error) {
	written, err := c.AddressableServiceInterface.Patch(ctx, name, pt, data, opts, subresources...)
	if err == nil {
		c.writes.Record(written)
	}
	return written, err
}
