/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The crud program executes, previews and checks operation files (package crud/operations) on any cluster.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/operations"
)

const examples = `  crud preview operations.yaml
  crud apply --context staging --output json operations.yaml
  echo '{"operationType": "JQPatch", "kind": "Deployment", "name": "nginx", "spec": ".spec.replicas = 3"}' | crud apply --namespace default -`

const exitCodes = `Exit codes:
  0    everything is done (preview: nothing would fail; lint: there is no mistake)
  1    an operation failed (preview: would fail)
  2    a flag or a file is invalid; nothing was executed
  3    try again later: an object was modified concurrently or is being deleted, or the API server is not available
  130  interrupted: the operations after the present one were not executed`

// Exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitAgain       = 3
	exitInterrupted = 130
)

type program struct {
	in       io.Reader
	out      io.Writer
	errs     io.Writer
	terminal bool // whether errs is one
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	p := &program{os.Stdin, os.Stdout, os.Stderr, term.IsTerminal(int(os.Stderr.Fd()))}
	interrupted := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(interrupted)
		stop()
		fmt.Fprintln(p.errs, "crud: interrupted: a request that was sent is completed; another interrupt ends the program at once")
	})
	code := p.run(ctx, os.Args[1:])
	if ctx.Err() != nil {
		<-interrupted // it prints
		if code != exitDone {
			code = exitInterrupted
		}
	}
	os.Exit(code)
}

func (p *program) run(ctx context.Context, args []string) int {
	state := operations.Done
	root := p.command(&state)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil {
		fmt.Fprintln(p.errs, "crud:", strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "\ncrud: "))
	}
	switch {
	case state == operations.Failed:
		return exitFailed
	case err != nil:
		return exitUsage
	case state == operations.Again:
		return exitAgain
	}
	return exitDone
}

// command returns the commands. Unless they set the state to Failed, an error is about flags and files.
func (p *program) command(state *operations.State) *cobra.Command {
	root := &cobra.Command{
		Use: "crud", Short: "Execute operation files, which create, patch and delete objects of any kind", Example: examples,
		SilenceErrors: true, SilenceUsage: true,
		RunE: func(*cobra.Command, []string) error { return errors.New("a command is missing: see crud --help") },
	}
	root.Long = root.Short + ".\nA FILE is YAML or JSON, and - is standard input.\n\n" + exitCodes
	root.AddCommand(
		p.applying(state, "apply", "Check and execute the operations; after a file that failed, the next ones are not executed"),
		p.applying(state, "preview", "Show the changes that apply would make, without values of Secrets, and change nothing"),
		&cobra.Command{Use: "lint FILE...", Short: "Check files without a cluster", RunE: func(_ *cobra.Command, names []string) error {
			_, err := p.read(names)
			return err
		}},
		&cobra.Command{Use: "schema", Short: "Print the JSON Schema of operation files", Args: cobra.NoArgs, Run: func(*cobra.Command, []string) {
			fmt.Fprint(p.out, string(operations.Schema))
		}},
	)
	return root
}

type namedFile struct {
	operations.File
	name string
}

// read reads operation files. If one is invalid, none is executed.
func (p *program) read(names []string) ([]namedFile, error) {
	if len(names) == 0 {
		return nil, errors.New("a FILE is missing: name an operation file, or - for standard input")
	}
	var files []namedFile
	var errs []error
	for _, name := range names {
		content, err := p.content(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if name == "-" {
			name = "standard input"
		}
		file, err := operations.Parse(content)
		if err != nil {
			errs = append(errs, errors.New(name+":"+strings.ReplaceAll(err.Error(), "\n", "\n"+name+":")))
		}
		files = append(files, namedFile{file, name})
	}
	return files, errors.Join(errs...)
}

func (p *program) content(name string) ([]byte, error) {
	if name != "-" {
		return os.ReadFile(name) //nolint:gosec // the user names the file
	}
	content, err := io.ReadAll(io.LimitReader(p.in, operations.MostBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading standard input: %w", err)
	}
	return content, nil
}

// cluster are the flags that choose the cluster, with the names that kubectl has for them.
type cluster struct {
	rules     *clientcmd.ClientConfigLoadingRules
	overrides clientcmd.ConfigOverrides
	options   crud.Options
}

func (c *cluster) register(flags *pflag.FlagSet) {
	c.rules = clientcmd.NewDefaultClientConfigLoadingRules()
	flags.StringVar(&c.rules.ExplicitPath, "kubeconfig", "", "`path` of the kubeconfig (default $KUBECONFIG, or ~/.kube/config)")
	clientcmd.BindOverrideFlags(&c.overrides, flags, clientcmd.RecommendedConfigOverrideFlags(""))
	flags.Func("confidential-kinds", "`kinds` whose values are not printed, as those of Secret, such as Vault.example.com,Token.example.com",
		c.options.ConfidentialKinds.Decode)
	flags.StringVar(&c.options.FieldManager, "field-manager", "crud", "`name` under which the API server records the fields that are written")
}

func (c *cluster) client() (*crud.Client, error) {
	kubeconfig := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(c.rules, &c.overrides)
	config, err := kubeconfig.ClientConfig()
	if err == nil {
		c.options.Namespace, _, err = kubeconfig.Namespace()
	}
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig, which --kubeconfig or $KUBECONFIG names: %w", err)
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return completing{next} })
	return crud.New(config, c.options)
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
