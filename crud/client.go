/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/lru"
	"k8s.io/utils/ptr"

	"github.com/mallard-dev/mallard/confidential"
)

// settledObjects bounds the number of objects of which a client remembers that they are as desired.
const settledObjects = 10_000

// DefaultBackoff makes 24 attempts after conflicts, enough for 100 writers of one object. The delays grow from 10 ms to 2 s, and up to the same is
// added at random, so that clients which collide do not do so again.
var DefaultBackoff = wait.Backoff{Duration: 10 * time.Millisecond, Factor: 2.5, Jitter: 1, Steps: 24, Cap: 2 * time.Second}

// mostFailures bounds the attempts after errors other than conflicts: within 4 to 8 s with DefaultBackoff.
const mostFailures = 8

// Options of a Client. All fields except FieldManager are optional.
type Options struct {
	// FieldManager is the name under which the API server records the fields that the client writes. It is required.
	FieldManager string
	// Namespace is that of operations without one, if their kind has namespaces. Without it, they fail with the class ScopeMismatch.
	Namespace string
	// Scheme knows the Go types of operations; client-go's by default.
	Scheme *runtime.Scheme
	// Backoff is between the attempts of an operation, of which there are at most Steps, and at most 8 after an error that is no conflict.
	// DefaultBackoff by default.
	Backoff wait.Backoff
	// DryRun makes the API server execute every request except for storing the result.
	DryRun bool
	// ConfidentialKinds are treated as Secret is: no value of their objects is in an error, a warning, a diff or a span.
	ConfidentialKinds confidential.Kinds
}

// Client runs operations. It may be used by several goroutines. Use New.
type Client struct {
	dynamic dynamic.Interface
	kinds   *kinds
	options Options
	// settled are the states of objects that the API server returned for a desired state, or that a write of it did not change. The values
	// that the API server sets by default are in no desired state, so that a comparison alone would find a difference each time.
	settled *lru.Cache
	fights  *flowcontrol.Backoff
	written func() *confidential.Values // by the plan to objects of confidential kinds, nil without a plan
}

// New returns a client for the API server of a configuration, which limits the requests only if the configuration does. Warnings of the API server are
// in the results.
func New(config *rest.Config, options Options) (*Client, error) {
	if options.FieldManager == "" {
		return nil, errors.New("crud.Options.FieldManager is empty: set it to the name of the program")
	}
	options.Scheme = cmp.Or(options.Scheme, scheme.Scheme)
	if options.Backoff.Steps == 0 {
		options.Backoff = DefaultBackoff
	}
	config = rest.CopyConfig(config)
	if config.QPS == 0 && config.RateLimiter == nil {
		config.QPS = -1 // the API server's priority and fairness decide
	}
	config.WarningHandlerWithContext = warningHandler{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return withoutRetryAfter{next} })
	client, invalid := dynamic.NewForConfig(config)
	discoverer, err := discovery.NewDiscoveryClientForConfig(config)
	if err = errors.Join(invalid, err); err != nil {
		return nil, fmt.Errorf("creating the clients for objects and for discovery: %w", err)
	}
	return &Client{
		dynamic: client, kinds: &kinds{discovery: discoverer}, options: options, settled: lru.New(settledObjects),
		fights: flowcontrol.NewBackOff(fightBackoff, 6*maxFightDelay), // an entry outlives the delays of both writers
	}, nil
}

// DryRun returns a client that makes the API server execute every request except for storing the result.
func (c *Client) DryRun() *Client {
	dry := *c
	dry.options.DryRun = true
	return &dry
}

// Run executes an operation. The error is an *Error. The result is complete also with an error, as far as the operation went.
func (c *Client) Run(ctx context.Context, op Operation) (Result, error) {
	return (&call{Client: c, op: op}).execute(ctx)
}

func (c *call) execute(ctx context.Context) (Result, error) {
	ctx, end := c.begin(ctx)
	err := guarded("the operation", func() error { return c.run(ctx) })
	if err != nil {
		c.result.Outcome = Failed
	}
	err = c.failed(ctx, err)
	end(err)
	return c.result, err
}

func (c *call) failed(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	class := ClassOf(err)
	if ctx.Err() != nil && class != Uncertain {
		class = Canceled
	}
	failed := &Error{
		Operation: c.op.String(), Ref: c.op.Ref, UID: ptr.Deref(c.op.Preconditions.UID, ""), Class: class, Attempts: c.result.Attempts, Err: err,
		isFinal: c.op.isFinal(class),
	}
	if live := c.result.Object; live != nil {
		if failed.UID = live.GetUID(); live.GetDeletionTimestamp() != nil {
			failed.Finalizers = live.GetFinalizers()
		}
	}
	return failed
}

// call is one operation while it runs.
type call struct {
	*Client
	op          Operation
	object      *unstructured.Unstructured // Operation.Object
	sampled     schema.GroupVersionKind    // of the Go type that the function of FilterPatch takes
	kind        kind
	objects     dynamic.ResourceInterface
	result      Result
	read        *unstructured.Unstructured // the state that was read first
	hash        string                     // of the desired state of CreateOrUpdate
	foreseen    foresight                  // by the preflight of the plan
	sent        []byte                     // the merge patch that was made from the state of the object
	cannotWatch bool
}

func (c *call) run(ctx context.Context) error {
	if err := c.prepare(); err != nil {
		return err
	}
	prepared := c.op
	err := c.resolveAndExecute(ctx)
	if ClassOf(err) == KindUnknown && c.objects != nil {
		// The API server does not serve it anymore, but may do so in another version or scope.
		c.kinds.expire()
		c.op, c.objects = prepared, nil
		err = c.resolveAndExecute(ctx)
	}
	return err
}

func (c *call) resolveAndExecute(ctx context.Context) error {
	err := c.retry(ctx, c.resolve)
	c.result.Attempts = 0
	switch {
	case err != nil:
		return err
	case c.foreseen.Outcome == Unchanged:
		c.result = c.foreseen.Result
		return c.unchanged()
	}
	return executions[c.op.Type](c, ctx)
}

// inScope returns the operation for objects of a kind: with the namespace of the client if they need one.
func (c *call) inScope(found kind) Operation {
	op := c.op
	if found.namespaced && op.Namespace == "" {
		op.Namespace = c.options.Namespace
	}
	return op
}

func (c *call) resolve() error {
	found, err := c.kinds.find(c.op.Ref, func(found kind) error { return found.check(c.inScope(found)) })
	c.op = c.inScope(found)
	if err != nil {
		return err
	}
	if c.sampled.Kind != "" && c.sampled.GroupKind() != found.GroupKind() {
		return Malformed.errorf("the function takes a %s, and the kind is %s", c.sampled.Kind, found.Kind)
	}
	if c.object != nil {
		c.object.SetGroupVersionKind(found.GroupVersionKind)
		c.object.SetNamespace(c.op.Namespace)
	}
	c.kind, c.op.Kind, c.op.APIVersion = found, found.Kind, found.GroupVersion().String()
	c.objects = c.dynamic.Resource(found.gvr()).Namespace(c.op.Namespace) // or without one
	return nil
}

var executions = map[Type]func(*call, context.Context) error{
	TypeCreateOrUpdate:            (*call).createOrUpdate,
	TypeCreate:                    (*call).createNew,
	TypeCreateIfNotExists:         (*call).createOrUpdate,
	TypeEnsureDeleted:             (*call).ensureDeleted,
	TypeEnsureDeletedInBackground: (*call).ensureDeleted,
	TypeEnsureDeletedOrphaning:    (*call).ensureDeleted,
	TypeFilterPatch:               (*call).filterPatch,
	TypeFilterPatchOptimistic:     (*call).filterPatch,
	TypeJQPatch:                   (*call).filterPatch,
	TypeJSONPatch:                 (*call).jsonPatch,
	TypeMergePatch:                (*call).mergePatch,
}

// gvkOf returns the kind of a Go object, which typed objects do not contain.
func (c *Client) gvkOf(object runtime.Object) (schema.GroupVersionKind, error) {
	if gvk := object.GetObjectKind().GroupVersionKind(); !gvk.Empty() {
		return gvk, nil
	}
	kinds, _, err := c.options.Scheme.ObjectKinds(object)
	if err != nil {
		return schema.GroupVersionKind{}, fmt.Errorf("finding the kind of %T: %w", object, err)
	}
	return kinds[0], nil
}
