/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"encoding/json"
	"math/rand"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientgotesting "k8s.io/client-go/testing"
	"sigs.k8s.io/randfill"

	"knative.dev/pkg/apis"
	knativefuzzer "knative.dev/pkg/apis/testing/fuzzer"

	"github.com/mallard-dev/mallard/internal/testrand"
	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// random makes the input of one pass.
type random struct {
	*rand.Rand

	filler *randfill.Filler
}

func newRandom(t *testing.T) *random {
	t.Helper()
	source := testrand.Source(t)
	codecs := serializer.NewCodecFactory(runtime.NewScheme())
	return &random{
		Rand:   rand.New(source),
		filler: fuzzer.FuzzerFor(fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, knativefuzzer.Funcs), source, codecs),
	}
}

func pick[T any](r *random, choices ...T) T { return choices[r.Intn(len(choices))] }

// oneIn is true once in n times.
func (r *random) oneIn(n int) bool { return r.Intn(n) == 0 }

// surroundings are the objects that a random reference may lead to.
func (r *random) surroundings() []runtime.Object {
	all := []runtime.Object{
		service(ns, "target", withServicePort("web", 80, ""), withServicePort("secure", 443, pick(r, "", "https", "kubernetes.io/h2c", "?"))),
		service("other", "target"),
		object("b", r.aStatus()),
		object("c", refTo("a"), r.aStatus()),
		duckCRD(),
		duck(ns, "d", addressStatus(pick(r, "http://d.example.com", "https://d:8443/a%2Fb/?q", "http://[::1]:9", "http://10.0.0.1", "/", "gopher://x"))),
		duck(ns, "e", pick(r, any("well"), any(map[string]any{}), any(map[string]any{"addresses": []any{map[string]any{"name": "web"}}}))),
		alias("al", pick(r, "a", "b", "nobody"), pick(r, host, "elsewhere.example.com"), stored),
		alias("old", pick(r, "a", "b"), host, stored),
	}
	if !r.oneIn(4) {
		all = append(all, namespace(directory))
	} else if r.oneIn(2) {
		all = append(all, namespace(directory, terminating))
	}
	return slices.DeleteFunc(all, func(runtime.Object) bool { return r.oneIn(8) })
}

// aStatus is one that a pass could have left, or anything.
func (r *random) aStatus() mod {
	if r.oneIn(4) {
		return func(as *v1.AddressableService) { r.filler.Fill(&as.Status) }
	}
	marks := []mark{
		at(pick(r, "http://"+host, "https://d:8443/a", "http://a.ns.example.com")),
		unresolved(pick(r, v1.ReasonTargetNotFound, v1.ReasonReferenceCycle), "as before"),
		unpublished(pick(r, v1.ReasonAliasTaken, v1.ReasonPublishFailed), "as before"),
		published, notRequested, noAddress,
	}
	r.Shuffle(len(marks), func(i, j int) { marks[i], marks[j] = marks[j], marks[i] })
	return status(marks[:r.Intn(len(marks))]...)
}

// anObject refers to something that may exist, or is filled with anything.
func (r *random) anObject() *v1.AddressableService {
	as := object("a", pick(r,
		withRef("v1", "Service", pick(r, "", "", ns, "other"), "target"),
		refTo(pick(r, "a", "b", "c")),
		withRef("example.com/v1", "Duck", pick(r, "", "other"), pick(r, "d", "e", "f")),
		withRef(pick(r, "example.com/v2", "apps/v1", "a/b/c", "", "aggregated.example.com/v1"), pick(r, "Duck", "Deployment", "Service", ""), "", "d"),
	))
	for range r.Intn(4) {
		as.Spec.Ports = append(as.Spec.Ports, port(
			pick(r, "web", "secure", "x"), pick[int32](r, 0, 80, 443, 65535), pick(r, "", "http", "https", "grpc", "kubernetes.io/ws")))
	}
	if r.oneIn(2) {
		withPath(pick(r, "/", "/a", "/a//b", "/!$&'()*+,;=:@-._~"))(as)
	}
	if r.oneIn(2) {
		as.Spec.Visibility = pick(r, v1.VisibilityPublic, "")
	}
	if r.oneIn(2) {
		publishedAs(pick(r, "al", "new"))(as)
	}
	if r.oneIn(8) {
		r.filler.Fill(&as.Spec)
	}
	r.aStatus()(as)
	as.Generation = r.Int63n(3)
	if r.oneIn(8) {
		as.Finalizers = pick(r, nil, []string{"other"})
	}
	if r.oneIn(16) {
		withClass(pick(r, "other", ""))(as)
	}
	if r.oneIn(16) {
		beingDeleted(as)
	}
	return as
}

// aConfig is any configuration that the parser accepts.
func (r *random) aConfig() *config.Addressable {
	return testConfig(func(c *config.Addressable) {
		c.AllowCrossNamespaceReferences = r.oneIn(2)
		c.Domain = pick(r, "example.com", "example.org", strings.Repeat("a.", 120)+"a")
		c.Scheme = pick(r, "http", "https")
		c.DirectoryNamespace = pick(r, directory, directory, "moved")
	})
}

func TestRandomObjectsThroughReconcile(t *testing.T) {
	r := newRandom(t)
	for i := range testrand.Inputs {
		as, objs, cfg := r.anObject(), r.surroundings(), r.aConfig()
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			given, err := json.Marshal(as)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if t.Failed() {
					t.Logf("the object is %s", given)
				}
			}()
			checkTwoPasses(t, newWorld(t, cfg, append(objs, as)...), as)
		})
	}
}

func checkTwoPasses(t *testing.T, w *world, as *v1.AddressableService) {
	t.Helper()
	if err := w.reconciler.Reconcile(t.Context(), ns+"/a"); err != nil {
		t.Errorf("nothing was made to fail, but the pass ends with %v", err)
	}
	ours, deleting := isOurs(as), as.DeletionTimestamp != nil
	if !ours {
		if writes := w.writes(); len(writes) > 0 {
			t.Errorf("an object of another class is written to: %v", writes)
		}
		return
	}
	got := w.catchUp(t)
	if deleting {
		if slices.Contains(got.Finalizers, samples.FinalizerName) {
			t.Error("the finalizer is still there")
		}
	} else {
		checkStatus(t, got)
	}

	w.samples.ClearActions()
	w.kube.ClearActions()
	if err := w.reconciler.Reconcile(t.Context(), ns+"/a"); err != nil {
		t.Errorf("the second pass ends with %v", err)
	}
	if writes := w.writes(); len(writes) > 0 {
		t.Errorf("the second pass writes: %v", writes)
	}
}

// checkStatus checks what holds for every status, whatever happened.
func checkStatus(t *testing.T, as *v1.AddressableService) {
	t.Helper()
	s := &as.Status
	for _, conditionType := range []apis.ConditionType{
		v1.AddressableServiceConditionReady, v1.AddressableServiceConditionTargetResolved, v1.AddressableServiceConditionPublished,
	} {
		switch c := s.GetCondition(conditionType); {
		case c == nil:
			t.Errorf("condition %s is missing", conditionType)
		case c.Reason == "NewObservedGenFailure":
			t.Errorf("no step has marked condition %s", conditionType)
		case !c.IsTrue() && (c.Reason == "" || c.Message == ""):
			t.Errorf("condition %s is %s without saying why", conditionType, c.Status)
		}
	}
	if s.ObservedGeneration != as.Generation {
		t.Errorf("generation %d was observed, want %d", s.ObservedGeneration, as.Generation)
	}
	resolved := s.GetCondition(v1.AddressableServiceConditionTargetResolved).IsTrue()
	if (s.Address != nil) != resolved || (len(s.Addresses) > 0) != resolved {
		t.Errorf("TargetResolved is %t beside address %v and addresses %v", resolved, s.Address, s.Addresses)
	}
	isReady := s.GetCondition(v1.AddressableServiceConditionReady).IsTrue()
	if want := resolved && s.GetCondition(v1.AddressableServiceConditionPublished).IsTrue(); isReady != want {
		t.Errorf("Ready is %t in %+v", isReady, s.Conditions)
	}
}

// writes are the requests of a pass that change something.
func (w *world) writes() []string {
	var writes []string
	for _, action := range slices.Concat(w.samples.Actions(), w.kube.Actions()) {
		if !slices.Contains([]string{"get", "list", "watch"}, action.GetVerb()) {
			writes = append(writes, describeAction(action))
		}
	}
	return writes
}

func describeAction(action clientgotesting.Action) string {
	text := action.GetVerb() + " " + action.GetResource().Resource + "/" + action.GetSubresource()
	if update, ok := action.(clientgotesting.UpdateAction); ok {
		content, err := json.Marshal(update.GetObject())
		if err != nil {
			return text + " " + err.Error()
		}
		text += " " + string(content)
	}
	return text
}

// catchUp makes the caches hold what is on the server, as it comes over the wire,
// and returns the object.
func (w *world) catchUp(t *testing.T) *v1.AddressableService {
	t.Helper()
	written, err := w.samples.SamplesV1().AddressableServices(ns).Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	content, err := json.Marshal(written)
	if err != nil {
		t.Fatal(err)
	}
	read := &v1.AddressableService{}
	if err := json.Unmarshal(content, read); err != nil {
		t.Fatalf("what was written cannot be read: %v", err)
	}
	services, err := w.kube.CoreV1().Services(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	items := make([]any, 0, len(services.Items))
	for i := range services.Items {
		items = append(items, &services.Items[i])
	}
	if err := w.objects.Update(read); err != nil {
		t.Fatal(err)
	}
	if err := w.services.Replace(items, ""); err != nil {
		t.Fatal(err)
	}
	return read
}
