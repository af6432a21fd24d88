/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The program converts the kinds of Karpenter's core as its webhook does.
package main

import (
	"context"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"knative.dev/pkg/apis"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/apis/v1beta1"
	"sigs.k8s.io/karpenter/pkg/operator/injection"

	"github.com/mallard-dev/mallard/conversion/zoo/upstream"
)

// empty is a client of a cluster without NodePools, which the conversion of a NodeClaim reads.
type empty struct{ client.Client }

func (empty) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return errors.NewNotFound(schema.GroupResource{Group: "karpenter.sh", Resource: "nodepools"}, key.Name)
}

func main() {
	ctx := injection.WithClient(context.Background(), empty{})
	ctx = injection.WithNodeClasses(ctx, []schema.GroupVersionKind{{Group: "karpenter.k8s.aws", Version: "v1", Kind: "EC2NodeClass"}})
	upstream.Serve(upstream.Through("v1", map[string]map[string]func() apis.Convertible{
		"NodeClaim": {
			"v1beta1": func() apis.Convertible { return &v1beta1.NodeClaim{} },
			"v1":      func() apis.Convertible { return &v1.NodeClaim{} },
		},
		"NodePool": {
			"v1beta1": func() apis.Convertible { return &v1beta1.NodePool{} },
			"v1":      func() apis.Convertible { return &v1.NodePool{} },
		},
	},
		func(from, hub apis.Convertible) error { return hub.ConvertFrom(ctx, from) },
		func(hub, to apis.Convertible) error { return hub.ConvertTo(ctx, to) }))
}
