/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package serviceresolver

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
)

// Annotation of a Service lists the addresses of its ports: "443=127.0.0.1:41234 9090=127.0.0.1:41235", that is service port = host:port,
// separated by spaces.
const Annotation = "localcluster.mallard.dev/endpoints"

// lookupTimeout bounds the request for a Service that the cache cannot answer for. A webhook call waits for it.
const lookupTimeout = 5 * time.Second

// Resolver is a webhook.ServiceResolver. It is made before the API server that uses it, and can answer as soon as Use
// has been called.
type Resolver struct {
	source atomic.Pointer[source]
}

type source struct {
	client    kubernetes.Interface
	lister    corelisters.ServiceLister
	endpoints *Endpoints
}

// Use sets where Services are read from. The lister may still be filling. Where Pods are run, endpoints lead to them; nil
// where they are not.
func (r *Resolver) Use(client kubernetes.Interface, lister corelisters.ServiceLister, endpoints *Endpoints) {
	r.source.Store(&source{client: client, lister: lister, endpoints: endpoints})
}

// ResolveEndpoint is called by the API server whenever it opens a connection to a Service. The error names the Service,
// for it ends up in front of the user whose request needed the webhook.
func (r *Resolver) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	source := r.source.Load()
	if source == nil {
		return nil, fmt.Errorf("service %s/%s cannot be resolved: the cluster is still starting", namespace, name)
	}
	// The cache follows changes within milliseconds. Where it has no address the Service may have been made or annotated
	// in this moment, and one request settles it.
	if svc, err := source.lister.Services(namespace).Get(name); err == nil {
		if address, err := source.address(svc, port); err == nil {
			return endpoint(address), nil
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
	defer cancel()
	svc, err := source.client.CoreV1().Services(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("service %s/%s cannot be resolved: %w", namespace, name, err)
	}
	address, err := source.address(svc, port)
	if err != nil {
		return nil, err
	}
	return endpoint(address), nil
}

// address finds a port of a Service: with a ready Pod if there is one, or else by the annotation.
func (s *source) address(svc *corev1.Service, port int32) (string, error) {
	if s.endpoints == nil {
		return Address(svc, port)
	}
	address, err := s.endpoints.address(svc, port)
	if err == nil {
		return address, nil
	}
	if _, annotated := svc.Annotations[Annotation]; annotated {
		return Address(svc, port)
	}
	return "", err
}

func endpoint(address string) *url.URL { return &url.URL{Scheme: "https", Host: address} }

// Address reads the address of a Service's port from the annotation. Errors name the Service and what is wrong with it.
func Address(svc *corev1.Service, port int32) (string, error) {
	value, found := svc.Annotations[Annotation]
	if !found {
		return "", fmt.Errorf("service %s/%s has no annotation %s, so nothing is known to serve it on this machine",
			svc.Namespace, svc.Name, Annotation)
	}
	for entry := range strings.FieldsSeq(value) {
		left, address, ok := strings.Cut(entry, "=")
		number, err := strconv.ParseInt(left, 10, 32)
		if !ok || err != nil || !isAddress(address) {
			return "", fmt.Errorf("service %s/%s: annotation %s: %q is not of the form 443=127.0.0.1:41234",
				svc.Namespace, svc.Name, Annotation, entry)
		}
		if int32(number) == port {
			return address, nil
		}
	}
	return "", fmt.Errorf("service %s/%s: annotation %s has no address for port %d (it is %q)",
		svc.Namespace, svc.Name, Annotation, port, value)
}

func isAddress(address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" {
		return false
	}
	number, err := strconv.ParseUint(port, 10, 16)
	return err == nil && number > 0
}
