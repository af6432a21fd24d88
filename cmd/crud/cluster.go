/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/mallard-dev/mallard/confidential"
	"github.com/mallard-dev/mallard/crud"
)

// cluster are the flags that choose the cluster, with the names that kubectl has for them.
type cluster struct {
	kubeconfig, context, namespace, fieldManager string

	confidential confidential.Kinds
}

func (c *cluster) register(flags *flag.FlagSet) {
	flags.StringVar(&c.kubeconfig, "kubeconfig", "", "`path` of the kubeconfig (default $KUBECONFIG, or ~/.kube/config)")
	flags.StringVar(&c.context, "context", "", "`name` of the kubeconfig's context (default the current one)")
	for _, name := range []string{"namespace", "n"} {
		flags.StringVar(&c.namespace, name, "", "`namespace` of operations without one (default that of the context)")
	}
	flags.Func("confidential-kinds", "`kinds` whose values are not printed, as those of Secret, such as Vault.example.com,Token.example.com",
		c.confidential.Decode)
	flags.StringVar(&c.fieldManager, "field-manager", "crud", "`name` under which the API server records the fields that are written")
}

func (c *cluster) client() (*crud.Client, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: c.context}
	overrides.Context.Namespace = c.namespace
	kubeconfig := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	config, err := kubeconfig.ClientConfig()
	if err != nil {
		return nil, usageError{fmt.Errorf("reading the kubeconfig, which --kubeconfig or $KUBECONFIG names: %w", err)}
	}
	namespace, _, err := kubeconfig.Namespace()
	if err != nil {
		return nil, usageError{fmt.Errorf("reading the namespace of the kubeconfig: %w", err)}
	}
	config.QPS = -1 // the API server's priority and fairness decide
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return completing{next} })
	client, err := crud.New(config, crud.Options{FieldManager: c.fieldManager, Namespace: namespace, ConfidentialKinds: c.confidential})
	if err != nil {
		return nil, usageError{err}
	}
	return client, nil
}

// completing waits for the answer to a request that was sent when the program is interrupted, so that it is known whether it was executed.
type completing struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (c completing) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := request.Context().Err(); err != nil {
		return nil, err //nolint:wrapcheck // client-go compares it
	}
	return c.next.RoundTrip(request.WithContext(context.WithoutCancel(request.Context()))) //nolint:wrapcheck // as above
}
