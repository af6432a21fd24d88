/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The crud program executes, previews and checks operation files (package crud/operations) on any cluster.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/term"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/mallard-dev/mallard/confidential"
	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/operations"
)

const help = `crud executes operation files: it creates, patches and deletes objects of any kind.

  crud apply FILE...    executes the operations, after a check that nothing has to fail
  crud preview FILE...  shows what apply would change, and changes nothing
  crud lint FILE...     checks files without a cluster
  crud schema           prints the JSON Schema of operation files, for editors

A FILE is YAML or JSON, and - is standard input. Flags of a command: crud COMMAND --help

Examples:
  crud preview operations.yaml
  crud apply --context staging --results results.json operations.yaml
  echo '{"operationType": "JQPatch", "kind": "Deployment", "name": "nginx", "spec": ".spec.replicas = 3"}' | crud apply --namespace default -

Exit codes:
  0    everything is done (preview: nothing would fail; lint: nothing is found)
  1    an operation failed (preview: would fail; lint: found something)
  2    a flag or a file is invalid; nothing was executed
  3    try again later: an object was modified concurrently or is being deleted, or the API server is not available
  130  interrupted: the operations after the present one were not executed
`

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

type usageError struct{ error }

func (p *program) run(ctx context.Context, args []string) int {
	state, err := p.command(ctx, args)
	_, usage := errors.AsType[usageError](err)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitDone
	case err != nil:
		fmt.Fprintln(p.errs, "crud:", strings.ReplaceAll(err.Error(), "\n", "\ncrud: "))
	}
	switch {
	case usage:
		return exitUsage
	case err != nil || state == operations.Failed:
		return exitFailed
	case state == operations.Again:
		return exitAgain
	}
	return exitDone
}

func (p *program) command(ctx context.Context, args []string) (operations.State, error) {
	if len(args) == 0 {
		return "", usageError{errors.New("a command is missing: use apply, preview, lint or schema (see crud --help)")}
	}
	switch name, args := args[0], args[1:]; name {
	case "apply":
		return p.apply(ctx, applyUsage, false, args)
	case "preview":
		return p.apply(ctx, previewUsage, true, args)
	case "lint":
		return p.lint(args)
	case "schema":
		if len(args) > 0 {
			return "", usageError{fmt.Errorf("schema takes no argument: leave out %q", args[0])}
		}
		_, err := p.out.Write(operations.Schema)
		return operations.Done, err //nolint:wrapcheck // it names the file
	case "help", "-h", "-help", "--help":
		fmt.Fprint(p.out, help)
		return operations.Done, nil
	default:
		return "", usageError{fmt.Errorf("command %q does not exist: use apply, preview, lint or schema (see crud --help)", name)}
	}
}

type namedFile struct {
	operations.File
	name string
}

// parse parses flags, which may be before, between and after other arguments, and returns the latter. With --help it prints usage and the flags.
func (p *program) parse(flags *flag.FlagSet, usage string, args []string) (others []string, err error) {
	flags.SetOutput(io.Discard)
	for {
		switch err := flags.Parse(args); {
		case errors.Is(err, flag.ErrHelp):
			flags.SetOutput(p.out)
			fmt.Fprintln(p.out, usage)
			flags.PrintDefaults()
			return nil, flag.ErrHelp
		case err != nil:
			return nil, usageError{err}
		case flags.NArg() == 0:
			return others, nil
		}
		others, args = append(others, flags.Arg(0)), flags.Args()[1:]
	}
}

func newFlags() *flag.FlagSet { return flag.NewFlagSet("crud", flag.ContinueOnError) }

// read reads operation files. If one is invalid, none is executed.
func (p *program) read(names []string) ([]namedFile, error) {
	if len(names) == 0 {
		return nil, usageError{errors.New("a FILE is missing: name an operation file, or - for standard input")}
	}
	var (
		files []namedFile
		errs  []error
	)
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
	if len(errs) > 0 {
		return nil, usageError{errors.Join(errs...)}
	}
	return files, nil
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

const lintUsage = `crud lint [flags] FILE...

Reports mistakes, and operations that do not fit others of their file.
`

func (p *program) lint(args []string) (operations.State, error) {
	names, err := p.parse(newFlags(), lintUsage, args)
	if err != nil {
		return "", err
	}
	files, err := p.read(names)
	if err != nil {
		return "", err
	}
	state := operations.Done
	for _, file := range files {
		for _, fault := range file.Lint() {
			state = operations.Failed
			fmt.Fprintf(p.out, "%s:%s\n", file.name, fault)
		}
	}
	return state, nil
}

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
