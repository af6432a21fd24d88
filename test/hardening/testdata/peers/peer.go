/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// This file becomes part of the main packages of other controllers, with and without hardening, where it reports what they set up, and disturbs them.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/reconciler"
)

// observing is the innermost injection.Default, so that it sees what is left of the changes of others.
type observing struct{ injection.Interface }

func init() { injection.Default = observing{injection.Default} }

// SetupInformers implements injection.Interface.
func (o observing) SetupInformers(ctx context.Context, cfg *rest.Config) (context.Context, []controller.Informer) {
	log.Printf("peer: limit: %v", cfg.QPS)
	// What others have registered until now is called next.
	log.Printf("peer: registered: %d clients, %d factories, %d informers, %d filtered injectors", len(o.GetClients()), len(o.GetInformerFactories()),
		len(o.GetInformers()), len(o.GetFilteredInformers()))
	log.Printf("peer: ducks: %d", len(o.GetDucks()))
	ctx, informers := o.Interface.SetupInformers(ctx, cfg)
	shared, hardened := 0, 0
	for _, informer := range informers {
		if i, ok := informer.(cache.SharedIndexInformer); ok {
			shared++
			_, _ = i.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, object any) {
				if o, ok := object.(metav1.Object); ok && o.GetAnnotations()["peer"] == "panic" {
					panic("in a handler")
				}
			}})
		}
		if fmt.Sprintf("%T", informer) == "*hardening.informer" {
			hardened++
		}
	}
	log.Printf("peer: informers: %d, shared %d", len(informers), shared)
	log.Printf("peer: hardened: %d", hardened)
	return ctx, informers
}

// disturbed returns a constructor whose reconciler panics for objects with one name, and takes long for those with another one.
func disturbed(constructor injection.ControllerConstructor) injection.ControllerConstructor {
	return func(ctx context.Context, watcher configmap.Watcher) *controller.Impl {
		impl := constructor(ctx, watcher)
		impl.Reconciler = disturbedReconciler{impl.Reconciler, impl.Reconciler.(reconciler.LeaderAware)}
		return impl
	}
}

type disturbedReconciler struct {
	controller.Reconciler
	reconciler.LeaderAware
}

// Reconcile implements controller.Reconciler.
func (r disturbedReconciler) Reconcile(ctx context.Context, key string) error {
	switch {
	case strings.HasSuffix(key, "/panics"):
		panic("boom")
	case strings.HasSuffix(key, "/slow"):
		log.Printf("peer: begin %s", key)
		time.Sleep(4 * time.Second) // work that nothing cancels
		defer log.Printf("peer: end %s", key)
	}
	return r.Reconciler.Reconcile(ctx, key)
}
