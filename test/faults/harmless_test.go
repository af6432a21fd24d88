/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/test/harness"
)

const (
	// backoff is the longest interval between two tries, so that the state is right within it after a failure has ended.
	backoff = 30 * time.Second
	// failing is how long requests fail: long enough for the back-off to show.
	failing = 10 * time.Second
	// mostTries is how often a failing request may be sent in that time: twice a second, and what an event causes in between.
	mostTries = 2 * int(failing/time.Second)
)

// failures are the ways in which a request fails.
var failures = map[string]func(*harness.Proxy, harness.Match) func(){
	"Forbidden":          answered(http.StatusForbidden),
	"NotFound":           answered(http.StatusNotFound),
	"Conflict":           answered(http.StatusConflict),
	"TooManyRequests":    answered(http.StatusTooManyRequests),
	"InternalError":      answered(http.StatusInternalServerError),
	"ServiceUnavailable": answered(http.StatusServiceUnavailable),
	"Timeout":            answered(http.StatusGatewayTimeout),
	"Lost":               (*harness.Proxy).Lose,
	"Undecodable":        (*harness.Proxy).Garble,
}

func answered(code int) func(*harness.Proxy, harness.Match) func() {
	return func(p *harness.Proxy, m harness.Match) func() { return p.Fail(m, code) }
}

// scene is a namespace in which an object of each kind works.
type scene struct {
	*harness.Env

	ns, alias string

	as, deployment, binding, pods harness.Ref
}

func newScene(t *testing.T, env *harness.Env) *scene {
	t.Helper()
	s := &scene{Env: env, ns: env.Namespace(t)}
	s.alias = s.ns[len(s.ns)-5:]
	refs := env.Apply(t, s.ns, fmt.Sprintf(`
apiVersion: v1
kind: Service
metadata: {name: target}
spec:
  ports: [{name: http, port: 80}]
---
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata:
  name: it
  annotations: {samples.knative.dev/addressableservice.class: mallard}
spec:
  visibility: ClusterLocal
  ref: {apiVersion: v1, kind: Service, name: target}
  publish: {alias: a-%s}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: it, labels: {bindings.knative.dev/include: "true"}}
spec:
  selector: {matchLabels: {app: it}}
  template:
    metadata: {labels: {app: it}}
    spec: {containers: [{name: main, image: main}]}
---
apiVersion: samples.knative.dev/v1
kind: AddressBinding
metadata: {name: it}
spec:
  subject: {apiVersion: apps/v1, kind: Deployment, name: it}
  address: {name: it}
  variable: K_ADDRESS
---
apiVersion: samples.knative.dev/v1alpha1
kind: SimpleDeployment
metadata: {name: it}
spec: {image: main, replicas: 2}
`, s.alias))
	s.as, s.deployment, s.binding, s.pods = refs[1], refs[2], refs[3], refs[4]
	return s
}

// working waits until everything of the scene works.
func (s *scene) working(t *testing.T) {
	t.Helper()
	s.AwaitWithin(t, takeover, s.as, harness.Ready)
	s.AwaitWithin(t, takeover, s.deployment, bound(""))
	s.AwaitWithin(t, takeover, s.pods, harness.Ready)
}

func (s *scene) aliasRef(prefix string) harness.Ref {
	return harness.Ref{Resource: alias.Resource, Namespace: directory, Name: prefix + s.alias}
}

// works is what has to stay true whatever fails: there is an address, a name for it, a variable with it, and a Pod.
func (s *scene) works(ctx context.Context) error {
	as, err := s.Samples.SamplesV1().AddressableServices(s.ns).Get(ctx, "it", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the AddressableService: %w", err)
	}
	if as.Status.Address == nil {
		return fmt.Errorf("the address is gone: %+v", as.Status.Conditions)
	}
	services, err := s.Kube.CoreV1().Services(directory).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing the aliases: %w", err)
	}
	names := 0
	for i := range services.Items {
		if strings.HasSuffix(services.Items[i].Name, "-"+s.alias) {
			names++
		}
	}
	if names == 0 {
		return fmt.Errorf("the alias is gone: %+v", as.Status.Conditions)
	}
	deployment, err := s.Kube.AppsV1().Deployments(s.ns).Get(ctx, "it", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the Deployment: %w", err)
	}
	if len(deployment.Spec.Template.Spec.Containers[0].Env) == 0 {
		return errors.New("the variable is gone")
	}
	pods, err := s.Kube.CoreV1().Pods(s.ns).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing the Pods: %w", err)
	}
	if len(pods.Items) == 0 {
		return errors.New("every Pod is gone")
	}
	return nil
}

// bound is the condition of a Deployment whose container has the address with a path.
func bound(path string) harness.Condition {
	return func(o *unstructured.Unstructured) error {
		containers, _, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
		container, _ := containers[0].(map[string]any)
		if text := fmt.Sprint(container["env"]); !strings.Contains(text, ".svc.cluster.local"+path+"]") {
			return fmt.Errorf("its container has the environment %s, want the address with path %q", text, path)
		}
		return nil
	}
}

// request is a request that a reconciliation sends.
type request struct {
	name  string
	match func(*scene) harness.Match
	// provoke makes the controller send it.
	provoke func(*testing.T, *scene)
	// right waits for the state that the controller is to reach.
	right func(*testing.T, *scene)
	// final says that the object is being deleted, so that its end is right.
	final bool
	// queued says that client-go sends it when it can: it waits behind the retries of others, which take minutes.
	queued bool
	// truthful are failures that are no failures of this request: the API server answers so only if there is nothing to do.
	truthful string
}

func inScene(verb, resource string) func(*scene) harness.Match {
	return func(s *scene) harness.Match { return harness.Matching(verb, resource).And(harness.InNamespace(s.ns)) }
}

func ofAlias(verb, prefix string) func(*scene) harness.Match {
	return func(s *scene) harness.Match {
		return harness.Matching(verb, "services").And(func(r harness.Request) bool { return r.Name == prefix+s.alias })
	}
}

func patch(ref func(*scene) harness.Ref, change string) func(*testing.T, *scene) {
	return func(t *testing.T, s *scene) {
		t.Helper()
		s.Patch(t, ref(s), strings.ReplaceAll(change, "ALIAS", s.alias))
	}
}

func remove(ref func(*scene) harness.Ref) func(*testing.T, *scene) {
	return func(t *testing.T, s *scene) {
		t.Helper()
		s.Delete(t, ref(s))
	}
}

func reaches(ref func(*scene) harness.Ref, conditions ...harness.Condition) func(*testing.T, *scene) {
	return func(t *testing.T, s *scene) {
		t.Helper()
		s.AwaitWithin(t, backoff, ref(s), conditions...)
	}
}

func theService(s *scene) harness.Ref    { return s.as }
func theDeployment(s *scene) harness.Ref { return s.deployment }
func theBinding(s *scene) harness.Ref    { return s.binding }
func thePods(s *scene) harness.Ref       { return s.pods }
func theAlias(s *scene) harness.Ref      { return s.aliasRef("a-") }
func theNewAlias(s *scene) harness.Ref   { return s.aliasRef("b-") }

var requests = []request{{
	name:  "AddressableService_UpdateStatus",
	match: inScene("update", "addressableservices/status"), provoke: patch(theService, `{"spec": {"path": "/new"}}`),
	right: reaches(theService, harness.Ready),
}, {
	name:  "AddressableService_CreateAlias",
	match: ofAlias("create", "b-"), provoke: patch(theService, `{"spec": {"publish": {"alias": "b-ALIAS"}}}`),
	right: func(t *testing.T, s *scene) {
		reaches(theService, harness.Ready)(t, s)
		reaches(theNewAlias, harness.Exists)(t, s)
		reaches(theAlias, harness.Gone)(t, s)
	},
}, {
	name:  "AddressableService_DeleteAlias",
	match: ofAlias("delete", "a-"), provoke: patch(theService, `{"spec": {"publish": {"alias": "b-ALIAS"}}}`),
	right: func(t *testing.T, s *scene) {
		reaches(theService, harness.Ready)(t, s)
		reaches(theAlias, harness.Gone)(t, s)
	},
	truthful: "NotFound",
}, {
	name:  "AddressableService_UpdateAlias",
	match: ofAlias("update", "a-"), provoke: patch(theAlias, `{"spec": {"externalName": "elsewhere.example.com"}}`),
	right: reaches(theAlias, func(o *unstructured.Unstructured) error {
		if name, _, _ := unstructured.NestedString(o.Object, "spec", "externalName"); !strings.HasPrefix(name, "target.") {
			return fmt.Errorf("it points to %s", name)
		}
		return nil
	}),
}, {
	name:  "AddressableService_CreateEvent",
	match: inScene("create", "events"), provoke: patch(theService, `{"spec": {"ref": {"name": "none"}}}`),
	right: func(t *testing.T, s *scene) {
		reaches(theService, harness.HasCondition("TargetResolved", "False", ""))(t, s)
		patch(theService, `{"spec": {"ref": {"name": "target"}}}`)(t, s)
		reaches(theService, harness.Ready)(t, s)
	},
	final: true, queued: true,
}, {
	name:  "AddressableService_DeleteAliasAtTheEnd",
	match: ofAlias("delete", "a-"), provoke: remove(theService), right: reaches(theService, harness.Gone), final: true, truthful: "NotFound",
}, {
	name:  "AddressableService_RemoveFinalizer",
	match: inScene("patch", "addressableservices"), provoke: remove(theService), right: reaches(theService, harness.Gone), final: true,
}, {
	name:  "AddressBinding_PatchSubject",
	match: inScene("patch", "deployments"), provoke: patch(theService, `{"spec": {"path": "/new"}}`),
	right: reaches(theDeployment, bound("/new")),
}, {
	name:  "AddressBinding_UpdateStatus",
	match: inScene("update", "addressbindings/status"), provoke: patch(theService, `{"spec": {"path": "/new"}}`),
	right: func(t *testing.T, s *scene) {
		reaches(theDeployment, bound("/new"))(t, s)
		reaches(theBinding, harness.Ready)(t, s)
	},
}, {
	name:  "AddressBinding_PatchSubjectAtTheEnd",
	match: inScene("patch", "deployments"), provoke: remove(theBinding), right: reaches(theBinding, harness.Gone), final: true,
}, {
	name:  "AddressBinding_RemoveFinalizer",
	match: inScene("patch", "addressbindings"), provoke: remove(theBinding), right: reaches(theBinding, harness.Gone), final: true,
}, {
	name:  "SimpleDeployment_ApplyPod",
	match: inScene("patch", "pods"), provoke: patch(thePods, `{"spec": {"replicas": 3}}`), right: reaches(thePods, harness.Ready),
}, {
	name:  "SimpleDeployment_DeletePod",
	match: inScene("delete", "pods"), provoke: patch(thePods, `{"spec": {"replicas": 1}}`), right: reaches(thePods, harness.Ready), truthful: "NotFound",
}, {
	name:  "SimpleDeployment_EveryRequestForPods",
	match: inScene("*", "pods"), provoke: patch(thePods, `{"spec": {"image": "other"}}`), right: reaches(thePods, harness.Ready), truthful: "NotFound",
}, {
	name:  "SimpleDeployment_UpdateStatus",
	match: inScene("update", "simpledeployments/status"), provoke: patch(thePods, `{"spec": {"replicas": 3}}`), right: reaches(thePods, harness.Ready),
}}

// TestFailedRequest_OfAnyKind_IsHarmless has each request of each reconciler fail in each way, all at the same time, each in a namespace
// of its own. While they fail, nothing that worked stops working and no request is sent more than twice a second; afterwards the
// state is right within one back-off.
func TestFailedRequest_OfAnyKind_IsHarmless(t *testing.T) {
	for name, options := range map[string][]harness.Option{"WithWebhook": nil, "WithoutWebhook": {harness.WithoutWebhooks("webhook")}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failEverything(t, harness.Own(t, append(options, harness.WithProxy("controller"))...))
		})
	}
}

type failure struct {
	*scene
	request

	name string
	sent func() int
	undo func()
}

func failEverything(t *testing.T, env *harness.Env) {
	t.Helper()
	proxy := env.Proxy(t, "controller")
	var all []*failure
	for _, r := range requests {
		for way := range failures {
			if way != r.truthful {
				all = append(all, &failure{scene: newScene(t, env), request: r, name: r.name + "_" + way})
			}
		}
	}
	for _, f := range all {
		f.working(t)
	}
	for _, f := range all {
		_, way, _ := strings.Cut(strings.TrimPrefix(f.name, f.request.name), "_")
		match := f.match(f.scene)
		f.sent = proxy.Count(match)
		f.undo = failures[way](proxy, match)
		f.provoke(t, f.scene)
	}
	for _, f := range all {
		harness.Eventually(t, f.name+": the request is sent", func(context.Context) error {
			if f.sent() == 0 && !f.queued {
				return errors.New("it has not been sent")
			}
			return nil
		})
	}
	start := make(map[*failure]int, len(all))
	for _, f := range all {
		start[f] = f.sent()
	}
	timer := time.NewTimer(failing)
	defer timer.Stop()
	<-timer.C
	for _, f := range all {
		if tries := f.sent() - start[f]; tries > mostTries {
			t.Errorf("%s: %d requests in %v, want at most %d", f.name, tries, failing, mostTries)
		}
		if err := f.works(t.Context()); err != nil && !f.final {
			t.Errorf("%s: while requests failed, %v", f.name, err)
		}
		f.undo()
	}
	for _, f := range all {
		t.Run(f.name, func(t *testing.T) { f.right(t, f.scene) })
	}
}
