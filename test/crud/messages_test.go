/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

var update = flag.Bool("update", false, "write testdata/messages.txt")

// answers keep the message of the last request that failed.
type answers struct {
	next http.RoundTripper
	last string
	// forged is given instead of an answer whose path contains about.
	forged *apierrors.StatusError
	about  string
	// lost has writes fail without an answer.
	lost bool
}

// RoundTrip implements http.RoundTripper.
func (a *answers) RoundTrip(request *http.Request) (*http.Response, error) {
	if a.lost && request.Method != http.MethodGet {
		return nil, io.ErrUnexpectedEOF
	}
	response, err := a.next.RoundTrip(request)
	if err != nil {
		return response, err
	}
	content, err := io.ReadAll(response.Body)
	if a.forged != nil && strings.Contains(request.URL.Path, a.about) {
		response.StatusCode = int(a.forged.ErrStatus.Code)
		status := a.forged.ErrStatus
		status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		content, err = json.Marshal(status)
	}
	response.Body = io.NopCloser(bytes.NewReader(content))
	var status metav1.Status
	if response.StatusCode >= http.StatusBadRequest && json.Unmarshal(content, &status) == nil {
		a.last = status.Message
	}
	return response, err
}

// others are the rejections of the other classes.
var others = []rejection{
	{"a kind of two groups", crud.KindAmbiguous, func(r *rejected, _ string) crud.Operation {
		return crud.MergePatch(crud.Ref{Kind: "Event", Namespace: r.ns, Name: "leak"}, `{"data":{"z":5}}`)
	}},
	{"a version that is not served", crud.KindUnknown, func(r *rejected, kind string) crud.Operation {
		return crud.MergePatch(crud.Ref{APIVersion: "v9", Kind: kind, Namespace: r.ns, Name: "leak"}, `{"data":{"z":5}}`)
	}},
	{"no namespace", crud.ScopeMismatch, func(_ *rejected, kind string) crud.Operation {
		return crud.MergePatch(crud.Ref{Kind: kind, Name: "leak"}, `{"data":{"z":5}}`)
	}},
	{"a patch of the status", crud.SubresourceNotServed, func(r *rejected, kind string) crud.Operation {
		return onStatus(crud.MergePatch(r.ref(kind, "leak"), `{"status":{"z":5}}`))
	}},
	{"no such object", crud.NotFound, patched(crud.MergePatch, "none", `{"data":{"z":"$BASE64"}}`)},
	{"another resourceVersion", crud.Conflict, patched(crud.MergePatch, "leak", `{"metadata":{"resourceVersion":"1"},"data":{"z":"$BASE64"}}`)},
	{"another UID", crud.Precondition, patched(crud.MergePatch, "leak", `{"metadata":{"uid":"1"},"data":{"z":"$BASE64"}}`)},
	{"an object that is being deleted", crud.Terminating, desired(crud.CreateOrUpdate, "terminating", "data: {z: $BASE64}")},
}

// underLoad are the answers of a control plane that is overloaded, or whose other parts fail.
var underLoad = []*apierrors.StatusError{
	{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden,
		Message: `secrets "leak" is forbidden: User "jane" cannot get resource "secrets" in API group "" in the namespace "default"`,
	}},
	apierrors.NewUnauthorized("Unauthorized"),
	apierrors.NewTooManyRequests("the server has received too many requests and has asked us to try again later", 0),
	apierrors.NewServiceUnavailable("the server is currently unable to handle the request"),
	apierrors.NewInternalError(errors.New(`failed calling webhook "w.example.com": failed to call webhook: Post "https://w": EOF`)),
}

// The file has, for each class, the message for a ConfigMap, and that for a Secret as it is and as it would be with the text of the API server.
func TestSecret_MessageOfEachClass_NamesTheObjectTheFieldAndTheRemedy(t *testing.T) {
	s := newScene(t)
	config, recorded := rest.CopyConfig(s.config), &answers{about: "/namespaces/"}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		recorded.next = next
		return recorded
	})
	newClient := func() *crud.Client {
		client, err := crud.New(config, crud.Options{FieldManager: "crud-test", Backoff: wait.Backoff{Steps: 1}})
		if err != nil {
			t.Fatal(err)
		}
		return client
	}
	ctx, client := t.Context(), newClient().DryRun()
	value := harness.Canary(t)
	random := strings.TrimSuffix(strings.TrimPrefix(value, "canary-"), "+<&%")
	of := map[string]*rejected{"ConfigMap": newRejected(s, "ConfigMap", "public-"+random[1:]), "Secret": newRejected(s, "Secret", value)}
	for _, kind := range []string{"ConfigMap", "Secret"} {
		s.run(crud.Create(s.object(`{apiVersion: v1, kind: `+kind+`, metadata: {name: terminating, finalizers: [example.com/held]}}`)), crud.Created)
		s.run(crud.EnsureDeleted(s.ref(kind, "terminating")), crud.Deleting)
		resource := schema.GroupVersionResource{Version: "v1", Resource: strings.ToLower(kind) + "s"}
		t.Cleanup(func() { s.patch(resource, "terminating", `{"metadata":{"finalizers":null}}`) })
	}
	hidden := []string{s.ns, "$NS"}
	for _, r := range of {
		hidden = append(hidden, r.in("$BASE64"), "$BASE64", r.value, "$VALUE", strings.ToUpper(r.value), "$VALUE", random, "$RANDOM")
	}
	placeholders := strings.NewReplacer(hidden...)
	varying := regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|(resourceVersion\W+|127\.0\.0\.1:)\d+`)
	var all strings.Builder
	var classes []crud.Class
	addf := func(format string, args ...any) {
		text := varying.ReplaceAllString(placeholders.Replace(fmt.Sprintf(format, args...)), "$2…")
		const half = 220
		if len(text) > 2*half {
			text = text[:half] + " [...] " + text[len(text)-half:]
		}
		all.WriteString(strings.ToValidUTF8(text, "") + "\n")
	}
	describe := func(rejection rejection) {
		addf("\n%s", rejection.name)
		for _, kind := range []string{"ConfigMap", "Secret"} {
			recorded.last = ""
			_, err := client.Run(ctx, rejection.op(of[kind], kind))
			if err == nil {
				addf("  %s: succeeds", kind)
				continue
			}
			classes = append(classes, crud.ClassOf(err))
			addf("  %s: %s", kind, err)
			if answer, ok := errors.AsType[*apierrors.StatusError](err); ok && kind == "Secret" && answer.ErrStatus.Message != recorded.last {
				of[kind].clean(rejection.name, err.Error())
				addf("  Secret, with the text of the API server: %s", strings.ReplaceAll(err.Error(), answer.ErrStatus.Message, recorded.last))
			}
		}
	}
	for _, rejection := range slices.Concat(rejections, others) {
		describe(rejection)
	}
	for _, answer := range underLoad {
		recorded.forged = answer
		describe(rejection{string(answer.ErrStatus.Reason), "", filtered("leak", ".data.z = 5")})
	}
	client, recorded.forged, recorded.about = newClient(), apierrors.NewServiceUnavailable("shutting down"), "/api" // without kinds so far
	describe(rejection{"discovery that fails", crud.DiscoveryUnavailable, filtered("leak", ".data.z = 5")})
	client, recorded.forged, recorded.lost = newClient(), nil, true
	describe(rejection{"a lost answer to a patch", crud.Uncertain, filtered("leak", `.data.z = "$BASE64"`)})
	ended, end := context.WithCancel(ctx)
	end()
	ctx = ended
	describe(rejection{"a context that has ended", crud.Canceled, filtered("leak", ".data.z = 5")})
	for class := range strings.FieldsSeq(`Malformed KindUnknown KindAmbiguous ScopeMismatch SubresourceNotServed DiscoveryUnavailable NotFound AlreadyExists Terminating
		Conflict Precondition OwnershipConflict Immutable Invalid PatchTestFailed FilterFailed Forbidden Unauthorized Throttled ServerError Uncertain Canceled`) {
		if !slices.Contains(classes, crud.Class(class)) {
			t.Errorf("no message has the class %s", class)
		}
	}
	const golden = "testdata/messages.txt"
	if version, err := s.env.Kube.Discovery().ServerVersion(); err != nil || version.Minor != "35" {
		t.Logf("the messages are those of Kubernetes 1.35, not of %v, %v", version, err)
		return
	}
	if *update {
		if err := os.WriteFile(golden, []byte(all.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(all.String(), "\n")); err != nil || diff != "" {
		t.Errorf("%v; if it is intended, repeat with -update. -want, +got:\n%s", err, diff)
	}
}
