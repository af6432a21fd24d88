/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	"github.com/mallard-dev/mallard/localcluster/internal/pki"
)

const (
	serviceCIDR = "10.96.0.0/16"
	issuer      = "https://kubernetes.default.svc.cluster.local"
)

//go:embed audit-policy.yaml
var auditPolicy []byte

// ServerNames are the names in the API server's certificate: what clients on this machine use, and the names that a
// Pod would use.
var ServerNames = []string{
	"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
}

// ServerIPs are the addresses in the API server's certificate: the loopback interface and the cluster IP of the
// Service default/kubernetes.
var ServerIPs = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 96, 0, 1)}

// Options configure the API server.
type Options struct {
	// Dir is the cluster's folder: the audit log and its policy are written there.
	Dir string
	// Listener is the listener on which it serves. The server closes it.
	Listener net.Listener
	PKI      *pki.PKI
	// Client is the configuration of a client of this server that is allowed to read discovery.
	Client *rest.Config
	// EtcdEndpoint is the store.
	EtcdEndpoint string
	// Resolver finds the address behind a Service for webhooks.
	Resolver webhook.ServiceResolver
	// Nodes reports whether there are Nodes that serve logs and the like, to which the server authenticates as KubeletClient.
	Nodes bool
	// Flags are flags of kube-apiserver, which win over those of this package.
	Flags []string
}

// KubeletClient is the user name of the API server at Nodes, as kubeadm names it.
const KubeletClient = "kube-apiserver-kubelet-client"

// Server is an API server that has been started.
type Server struct {
	done chan struct{}
	err  error
}

// WithoutProxy exempts Services and their addresses from the proxy that the environment names, since a proxy reaches nothing inside of the cluster.
// It must be called before the first request: Go reads the variables once.
func WithoutProxy() error {
	exempt := []string{".svc", ".cluster.local", serviceCIDR}
	if users := cmp.Or(os.Getenv("NO_PROXY"), os.Getenv("no_proxy")); users != "" {
		exempt = append(exempt, users)
	}
	if err := os.Setenv("NO_PROXY", strings.Join(exempt, ",")); err != nil {
		return fmt.Errorf("exempting Services from the proxy: %w", err)
	}
	return nil
}

// Start checks the options and starts the server, which runs until the context ends. It does not wait until the server
// serves. It can be called once in a process.
func Start(ctx context.Context, opts Options) (*Server, error) {
	completed, err := complete(ctx, opts)
	if err != nil {
		return nil, err
	}
	app.SetServiceResolverForTests(opts.Resolver)
	// The API server's own clients would log the warnings that it sends to itself.
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	s := &Server{done: make(chan struct{})}
	go func() {
		defer close(s.done)
		if err := app.Run(ctx, completed); err != nil {
			s.err = fmt.Errorf("running the API server: %w", err)
		} else if ctx.Err() == nil {
			s.err = errors.New("the API server ended by itself")
		}
	}()
	return s, nil
}

// Done is closed when the server has ended.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err returns the reason for which the server ended, once Done is closed; nil if its context ended.
func (s *Server) Err() error { return s.err }

func complete(ctx context.Context, opts Options) (options.CompletedOptions, error) {
	fail := func(doing string, err error) (options.CompletedOptions, error) {
		return options.CompletedOptions{}, fmt.Errorf("%s: %w", doing, err)
	}
	policyFile := filepath.Join(opts.Dir, "audit-policy.yaml")
	if err := os.WriteFile(policyFile, auditPolicy, 0o600); err != nil {
		return fail("writing the audit policy", err)
	}
	run := options.NewServerRunOptions()
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, set := range run.Flags().FlagSets {
		flags.AddFlagSet(set)
	}
	admissionFile, err := admissionConfig(opts.Dir, opts.PKI)
	if err != nil {
		return fail("preparing the client certificate for webhooks", err)
	}
	args := append(arguments(opts, policyFile), "--admission-control-config-file="+admissionFile)
	if opts.Nodes {
		certFile, keyFile, err := opts.PKI.ClientFiles(KubeletClient)
		if err != nil {
			return fail("making the API server's own certificate", err)
		}
		args = append(args, "--kubelet-client-certificate="+certFile, "--kubelet-client-key="+keyFile,
			"--kubelet-certificate-authority="+opts.PKI.CAFile, "--kubelet-preferred-address-types=InternalIP")
	}
	if err := flags.Parse(append(args, opts.Flags...)); err != nil {
		return fail("setting the API server's flags", err)
	}
	if rest := flags.Args(); len(rest) > 0 {
		return fail("setting the API server's flags", fmt.Errorf("%q is not a flag: write --NAME=VALUE", rest[0]))
	}
	address, err := net.ResolveTCPAddr("tcp", opts.Listener.Addr().String())
	if err != nil {
		return fail("reading the address of the listener", err)
	}
	decorator, err := knowNewKinds(opts.Client)
	if err != nil {
		return fail("preparing admission", err)
	}
	// The first decorator is given the plugin itself.
	run.Admission.GenericAdmission.Decorators = append(admission.Decorators{decorator}, run.Admission.GenericAdmission.Decorators...)
	run.SecureServing.Listener, run.SecureServing.BindPort = opts.Listener, address.Port
	if err := run.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return fail("setting the API server's feature gates", err)
	}
	completed, err := run.Complete(ctx)
	if err != nil {
		return fail("completing the API server's options", err)
	}
	if errs := completed.Validate(); len(errs) != 0 {
		return fail("checking the API server's options", utilerrors.NewAggregate(errs))
	}
	return completed, nil
}

func arguments(opts Options, policyFile string) []string {
	return []string{
		"--etcd-servers=" + opts.EtcdEndpoint,
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		// No Pod can reach this server, and a loopback address is not allowed in Endpoints.
		"--endpoint-reconciler-type=none",
		"--tls-cert-file=" + opts.PKI.CertFile,
		"--tls-private-key-file=" + opts.PKI.KeyFile,
		"--client-ca-file=" + opts.PKI.CAFile,
		"--authorization-mode=RBAC",
		"--enable-admission-plugins=" + ownersPlugin,
		"--service-account-issuer=" + issuer,
		"--service-account-key-file=" + opts.PKI.TokenKeyFile,
		"--service-account-signing-key-file=" + opts.PKI.TokenKeyFile,
		"--service-cluster-ip-range=" + serviceCIDR,
		"--allow-privileged",
		"--profiling=false",
		"--audit-policy-file=" + policyFile,
		"--audit-log-path=" + filepath.Join(opts.Dir, "audit.log"),
		// An entry is in the file before the client has its answer, so that who reads it after a request finds it.
		"--audit-log-mode=blocking",
		// In MiB; without it the file would be cut at 100, in the middle of what a test counts.
		"--audit-log-maxsize=4096",
		"--audit-log-maxbackup=1",
	}
}
