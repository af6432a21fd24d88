/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgotesting "k8s.io/client-go/testing"

	"knative.dev/pkg/controller"
	logtesting "knative.dev/pkg/logging/testing"
	reconcilertesting "knative.dev/pkg/reconciler/testing"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/problem"
)

// remembering keeps the error of the pass, of which a table only says whether
// there is one.
type remembering struct {
	controller.Reconciler

	err error
}

func (r *remembering) Reconcile(ctx context.Context, key string) error {
	r.err = r.Reconciler.Reconcile(ctx, key)
	return r.err
}

// prepareData is the key in TableRow.OtherTestData of a func(*testing.T, *world) that is called before the pass.
const prepareData = "prepare"

// factory makes the reconciler of a row. Its reactors see every client.
func factory(t *testing.T, row *reconcilertesting.TableRow) (controller.Reconciler, reconcilertesting.ActionRecorderList, reconcilertesting.EventList) {
	t.Helper()
	w := newWorld(t, row.Objects...)
	if prepare, ok := row.OtherTestData[prepareData].(func(*testing.T, *world)); ok {
		prepare(t, w)
		w.samples.ClearActions()
		w.dynamic.ClearActions()
	}
	for _, reaction := range slices.Backward(row.WithReactors) {
		w.samples.PrependReactor("*", "*", reaction)
		w.dynamic.PrependReactor("*", "*", reaction)
	}
	row.Ctx = logtesting.TestContextWithLogger(t)
	return &remembering{Reconciler: w.reconciler},
		reconcilertesting.ActionRecorderList{w.samples, w.dynamic},
		reconcilertesting.EventList{Recorder: w.recorder}
}

func runTable(t *testing.T, table reconcilertesting.TableTest) {
	t.Helper()
	for i := range table {
		if table[i].Key == "" {
			table[i].Key = ns + "/a"
		}
	}
	table.Test(t, factory)
}

// waited has another pass made before, with these reactions, and then the time be over after which what is nowhere is given up.
func waited(after time.Duration, reactions ...clientgotesting.ReactionFunc) map[string]any {
	return map[string]any{prepareData: func(t *testing.T, w *world) {
		t.Helper()
		for _, reaction := range reactions {
			w.dynamic.PrependReactor("*", "*", reaction)
		}
		if err := w.reconciler.Reconcile(t.Context(), ns+"/a"); err != nil {
			if requeue, _ := controller.IsRequeueKey(err); !requeue {
				t.Error(err)
			}
		}
		w.clock.SetTime(w.clock.Now().Add(after))
	}}
}

// becomes is the one status write that a pass makes.
func becomes(ab *v1.AddressBinding) []clientgotesting.UpdateActionImpl {
	return []clientgotesting.UpdateActionImpl{{Object: ab}}
}

const envPath = "/spec/template/spec/containers/0/env"

// patched is the patch of a subject, with the tests of what was looked at before its changes.
func patched(name string, changes ...string) clientgotesting.PatchActionImpl {
	return patchedAt(name, "/spec/template/spec/containers/0", changes...)
}

func patchedAt(name, container string, changes ...string) clientgotesting.PatchActionImpl {
	all := append([]string{
		fmt.Sprintf(`{"op":"test","path":"/metadata/uid","value":"uid-%s"}`, name),
		`{"op":"test","path":"/metadata/generation","value":1}`,
		fmt.Sprintf(`{"op":"test","path":"%s/name","value":"main"}`, container),
	}, changes...)
	return clientgotesting.PatchActionImpl{
		ActionImpl: clientgotesting.ActionImpl{Namespace: ns}, Name: name, PatchType: types.JSONPatchType, Patch: []byte("[" + strings.Join(all, ",") + "]"),
	}
}

func patches(all ...clientgotesting.PatchActionImpl) []clientgotesting.PatchActionImpl { return all }

func adds(value string) string {
	return fmt.Sprintf(`{"op":"add","path":"%s","value":[{"name":"K_ADDRESS","value":"%s"}]}`, envPath, value)
}

func replaces(value string) string {
	return fmt.Sprintf(`{"op":"replace","path":"%s/0/value","value":"%s"}`, envPath, value)
}

const removes = `{"op":"remove","path":"` + envPath + `"}`

// ends checks the error that a pass ends with.
func ends(check func(error) string) []func(*testing.T, *reconcilertesting.TableRow) {
	return []func(*testing.T, *reconcilertesting.TableRow){func(t *testing.T, row *reconcilertesting.TableRow) {
		t.Helper()
		pass, ok := row.Reconciler.(*remembering)
		if !ok {
			t.Fatalf("the reconciler is a %T", row.Reconciler)
		}
		if wrong := check(pass.err); wrong != "" {
			t.Errorf("the pass ends with %v, want %s", pass.err, wrong)
		}
	}}
}

// withError: the pass fails with an error that says this and is retried with back-off.
func withError(part string) []func(*testing.T, *reconcilertesting.TableRow) {
	return ends(func(err error) string {
		if requeue, _ := controller.IsRequeueKey(err); requeue && !problem.IsRetry(err) || controller.IsPermanentError(err) || err == nil || !strings.Contains(err.Error(), part) {
			return "an error that is retried with back-off, with " + part
		}
		return ""
	})
}

// withRecheck: the pass is repeated after this time.
func withRecheck(want time.Duration) []func(*testing.T, *reconcilertesting.TableRow) {
	return ends(func(err error) string {
		if requeue, after := controller.IsRequeueKey(err); !requeue || after != want {
			return "another look after " + want.String()
		}
		return ""
	})
}

// failing makes a request fail with an error.
func failing(verb, resource string, err error) []clientgotesting.ReactionFunc {
	return []clientgotesting.ReactionFunc{func(action clientgotesting.Action) (bool, runtime.Object, error) {
		if !action.Matches(verb, resource) {
			return false, nil, nil
		}
		return true, nil, err
	}}
}

func warning(reason, message string) string { return "Warning " + reason + " " + message }

func normal(reason, message string) string { return "Normal " + reason + " " + message }
