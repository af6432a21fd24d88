//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"net/http"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// TestSimpleDeployment_KilledAroundEachPodRequest_Converges kills the process at each moment of the rollout of two Pods: with such a
// request on its way, of which the API server never learns, and with its answer received.
func TestSimpleDeployment_KilledAroundEachPodRequest_Converges(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithProxy("controller"))
	ns := env.Namespace(t)
	ref := deploy(t, env, ns, "image", 2)
	controller := env.Process(t, "controller")
	create, remove, status := harness.Matching("create", "pods"), harness.Matching("delete", "pods"), harness.Matching("update", "simpledeployments/status")
	for _, moment := range []struct {
		name          string
		made, deleted int
		next          harness.Match
	}{
		{name: "before-creation-1", made: 0, deleted: 0, next: create},
		{name: "after-creation-1", made: 1, deleted: 0, next: status},
		{name: "before-deletion-1", made: 1, deleted: 0, next: remove},
		{name: "after-deletion-1", made: 1, deleted: 1, next: status},
		{name: "after-creation-2", made: 2, deleted: 1, next: status},
		{name: "before-deletion-2", made: 2, deleted: 1, next: remove},
		{name: "after-deletion-2", made: 2, deleted: 2, next: status},
	} {
		r := &rollout{env: env, ns: ns, image: moment.name, mark: env.Mark(t)}
		r.before, _ = pods(t, env, ns)
		throughout(t, env, ns, within(uid(t, env, ref), 3, 2), func() {
			held, next := r.until(t, ref, moment.made, moment.deleted, moment.next)
			controller.Kill(t)
			// The API server has nothing of the request that was held, and had all before it.
			r.is(t, moment.made, moment.deleted)
			r.without(t, next)
			env.ExpireLeases(t, controller)
			controller.Start(t)
			env.Await(t, ref, harness.Ready)
			held.Release()
		})
		exactly(t, env, ref, moment.name, 2)
		// Nothing was done twice.
		r.is(t, 2, 2)
	}
}

// rollout is one of all Pods in a namespace to another image.
type rollout struct {
	env       *harness.Env
	ns, image string
	mark      harness.Mark
	before    state
}

// done are the names of the Pods that the controller has made and deleted, as the API server has answered it.
func (r *rollout) done(t *testing.T) (made, deleted []string) {
	t.Helper()
	for _, e := range r.mark.Entries(t, harness.ByUser(r.env.User("controller")), harness.ByRequest(harness.Matching("*", "pods").And(harness.InNamespace(r.ns)))) {
		switch {
		case e.Verb == "create" && e.Code == http.StatusCreated:
			made = append(made, e.Name)
		case e.Verb == "delete" && e.Code == http.StatusOK:
			deleted = append(deleted, e.Name)
		}
	}
	return made, deleted
}

// until begins the rollout and lets the controller write one request after the other, each of which needs the answer of the one
// before. It returns with the next one held once so many Pods are made and deleted, and that one has the expected state.
func (r *rollout) until(t *testing.T, ref harness.Ref, made, deleted int, next harness.Match) (*harness.Held, harness.Request) {
	t.Helper()
	proxy := r.env.Proxy(t, "controller")
	writes := harness.Match(func(request harness.Request) bool {
		switch request.Verb {
		case "create", "delete":
			return request.Resource == "pods"
		default:
			return harness.Matching("update", "simpledeployments/status")(request)
		}
	}).And(harness.InNamespace(r.ns))
	held := proxy.Hold(writes)
	change(t, r.env, ref, `{"image": "`+r.image+`"}`)
	for {
		request := held.Wait(t)
		if m, d := r.done(t); len(m) == made && len(d) == deleted && next(request) {
			return held, request
		}
		following := proxy.Hold(writes)
		held.Release()
		held = following
	}
}

// is fails unless so many Pods have been made and deleted, and the created ones exist and the deleted ones do not.
func (r *rollout) is(t *testing.T, made, deleted int) {
	t.Helper()
	m, d := r.done(t)
	if len(m) != made || len(d) != deleted {
		t.Errorf("%s: made are the Pods %v, deleted %v; want %d and %d", r.image, m, d, made, deleted)
	}
	now, _ := pods(t, r.env, r.ns)
	for _, name := range m {
		if pod := now[name]; pod == nil || pod.DeletionTimestamp != nil || pod.Spec.Containers[0].Image != r.image {
			t.Errorf("%s: Pod %s was created and does not exist:%v", r.image, name, now)
		}
	}
	for _, name := range d {
		was, pod := r.before[name], now[name]
		if was == nil || pod != nil && pod.UID == was.UID && pod.DeletionTimestamp == nil {
			t.Errorf("%s: Pod %s did not exist before, or was deleted and exists:%v", r.image, name, now)
		}
	}
}

// without fails if a request that makes or deletes a Pod has been done.
func (r *rollout) without(t *testing.T, request harness.Request) {
	t.Helper()
	now, _ := pods(t, r.env, r.ns)
	switch pod := now[request.Name]; {
	case request.Verb == "create" && pod != nil:
		t.Errorf("%s: Pod %s exists although the request that makes it was held:%v", r.image, request.Name, now)
	case request.Verb == "delete" && (pod == nil || pod.DeletionTimestamp != nil):
		t.Errorf("%s: Pod %s is being deleted although the request for that was held:%v", r.image, request.Name, now)
	}
}
