/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The program converts kinds of Kubernetes as the API server does, by way of the internal version.
package main

import (
	"encoding/json"
	"fmt"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	admissionregistration "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	autoscaling "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	batch "k8s.io/kubernetes/pkg/apis/batch/install"
	discovery "k8s.io/kubernetes/pkg/apis/discovery/install"
	flowcontrol "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	networking "k8s.io/kubernetes/pkg/apis/networking/install"
	policy "k8s.io/kubernetes/pkg/apis/policy/install"
	resource "k8s.io/kubernetes/pkg/apis/resource/install"

	"github.com/mallard-dev/mallard/conversion/zoo/upstream"
)

func main() {
	scheme := runtime.NewScheme()
	admissionregistration.Install(scheme)
	apiextensions.Install(scheme)
	autoscaling.Install(scheme)
	batch.Install(scheme)
	discovery.Install(scheme)
	flowcontrol.Install(scheme)
	networking.Install(scheme)
	policy.Install(scheme)
	resource.Install(scheme)
	upstream.Serve(func(kind, from, to string, object []byte) ([]byte, error) {
		for known := range scheme.AllKnownTypes() {
			if known.Kind != kind || known.Version != from {
				continue
			}
			in, err := scheme.New(known)
			if err == nil {
				err = json.Unmarshal(object, in)
			}
			if err != nil {
				return nil, err
			}
			hub, err := scheme.ConvertToVersion(in, runtime.InternalGroupVersioner)
			if err != nil {
				return nil, err
			}
			out, err := scheme.ConvertToVersion(hub, schema.GroupVersion{Group: known.Group, Version: to})
			if err != nil {
				return nil, err
			}
			return json.Marshal(out)
		}
		return nil, fmt.Errorf("unknown kind %s %s", from, kind)
	})
}
