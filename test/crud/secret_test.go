/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/operations"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/measured"
)

// rejection is an operation that fails on an object whose data has a value. In its texts, $VALUE is the value, and $BASE64 how a Secret stores it.
type rejection struct {
	name  string
	class crud.Class // for a Secret
	op    func(r *rejected, kind string) crud.Operation
}

// rejected are the objects of a value: leak and owned, whose data another field manager owns, and fixed, which is immutable.
type rejected struct {
	*scene
	value string
}

func newRejected(s *scene, kind, value string) *rejected {
	s.Helper()
	r := &rejected{s, value}
	for _, text := range []string{
		`{apiVersion: v1, kind: $KIND, metadata: {name: leak, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"kind":"$KIND","data":{"password":"$BASE64"}}'}}, data: {password: $BASE64}}`,
		`{apiVersion: v1, kind: $KIND, metadata: {name: fixed}, immutable: true, data: {password: $BASE64}}`,
		`{apiVersion: v1, kind: $KIND, metadata: {name: owned}, data: {password: $BASE64}}`,
	} {
		object := r.object(r.in(strings.ReplaceAll(text, "$KIND", kind)))
		resource := schema.GroupVersionResource{Version: "v1", Resource: strings.ToLower(kind) + "s"}
		if _, err := s.env.Dynamic.Resource(resource).Namespace(s.ns).Create(s.Context(), object, metav1.CreateOptions{FieldManager: "other"}); err != nil {
			s.Fatal(err)
		}
	}
	return r
}

// in replaces the placeholders in JSON or YAML.
func (r *rejected) in(text string) string {
	return strings.NewReplacer("$VALUE", r.value, "$BASE64", base64.StdEncoding.EncodeToString([]byte(r.value)), "$NS", r.ns).Replace(text)
}

func patched(operation func(crud.Ref, any) crud.Operation, name, patch string) func(*rejected, string) crud.Operation {
	return func(r *rejected, kind string) crud.Operation { return operation(r.ref(kind, name), r.in(patch)) }
}

func desired(operation func(crud.Object) crud.Operation, name, fields string, options ...func(*crud.Operation)) func(*rejected, string) crud.Operation {
	return func(r *rejected, kind string) crud.Operation {
		op := operation(r.object(r.in(fmt.Sprintf("{apiVersion: v1, kind: %s, metadata: {name: %s}, %s}", kind, name, fields))))
		for _, set := range options {
			set(&op)
		}
		return op
	}
}

func filtered(name, program string) func(*rejected, string) crud.Operation {
	return func(r *rejected, kind string) crud.Operation { return crud.JQPatch(r.ref(kind, name), r.in(program)) }
}

func applied(op *crud.Operation)   { op.Strategy = crud.Apply }
func recreated(op *crud.Operation) { op.OnImmutable = crud.Recreate }

// inGo returns a filter in Go for both kinds.
func inGo(change func(r *rejected, data map[string]string) error) func(*rejected, string) crud.Operation {
	return func(r *rejected, kind string) crud.Operation {
		if kind == "Secret" {
			return crud.FilterPatch(r.ref(kind, "leak"), func(secret *corev1.Secret) error {
				data := map[string]string{"password": string(secret.Data["password"])}
				defer func() { secret.Labels, secret.StringData = map[string]string{"derived": data["other"]}, data }()
				return change(r, data)
			})
		}
		return crud.FilterPatch(r.ref(kind, "leak"), func(configMap *corev1.ConfigMap) error {
			defer func() { configMap.Labels = map[string]string{"derived": configMap.Data["other"]} }()
			return change(r, configMap.Data)
		})
	}
}

// rejections are those of the paths that send or process values.
var rejections = []rejection{
	{"a merge patch with a number", crud.Invalid, patched(crud.MergePatch, "leak", `{"data":{"z":5}}`)},
	{"a merge patch with a written value and a number", crud.Invalid, patched(crud.MergePatch, "leak", `{"stringData":{"z":"$VALUE","y":7}}`)},
	{"a merge patch with a value that is no base64", crud.Invalid, patched(crud.MergePatch, "leak", `{"data":{"z":"$VALUE"}}`)},
	{"a merge patch with the value in a field that is no text", crud.Invalid, patched(crud.MergePatch, "leak", `{"immutable":"$VALUE"}`)},
	{"a merge patch with the value as a time", crud.Invalid, patched(crud.MergePatch, "leak", `{"metadata":{"deletionTimestamp":"$VALUE"}}`)},
	{"a merge patch with the value in a label", crud.Invalid, patched(crud.MergePatch, "leak", `{"metadata":{"labels":{"a":"$VALUE"}}}`)},
	{"a merge patch with the value in an unknown field", crud.Invalid, patched(crud.MergePatch, "leak", `{"unknown":"$VALUE"}`)},
	{"a merge patch with another kind", crud.Invalid, patched(crud.MergePatch, "leak", `{"kind":"Other"}`)},
	{"a merge patch with the value as type", crud.Immutable, patched(crud.MergePatch, "leak", `{"type":"$VALUE"}`)},
	{"a JSON patch with a number", crud.Invalid, patched(crud.JSONPatch, "leak", `[{"op":"add","path":"/data/z","value":5}]`)},
	{"a JSON patch that copies the value", crud.Invalid, patched(crud.JSONPatch, "leak", `[{"op":"copy","from":"/data/password","path":"/immutable"}]`)},
	{"a JSON patch that guesses the value", crud.PatchTestFailed, patched(crud.JSONPatch, "leak", `[{"op":"test","path":"/data/password","value":"guess"}]`)},
	{"a JSON patch of a path that does not exist", crud.PatchTestFailed, patched(crud.JSONPatch, "leak", `[{"op":"add","path":"/data/none/z","value":"$VALUE"}]`)},
	{"apply with a number", crud.Invalid, desired(crud.CreateOrUpdate, "leak", "data: {z: 5}", applied)},
	{"apply with a value that is no base64", crud.Invalid, desired(crud.CreateOrUpdate, "leak", `data: {z: "$VALUE"}`, applied)},
	{"apply with an unknown field", crud.Invalid, desired(crud.CreateOrUpdate, "leak", `unknown: "$VALUE"`, applied)},
	{"apply of a field of another manager", crud.OwnershipConflict, desired(crud.CreateOrUpdate, "owned", "data: {password: Z3Vlc3M=}", applied)},
	{"create with a number", crud.Invalid, desired(crud.Create, "new", "data: {z: 5}")},
	{"create with a value that is no base64", crud.Invalid, desired(crud.Create, "new", `data: {z: "$VALUE"}`)},
	{"create with a written value and a number", crud.Invalid, desired(crud.Create, "new", `stringData: {z: "$VALUE", y: 7}`)},
	{"create with an unknown field", crud.Invalid, desired(crud.Create, "new", `unknown: "$VALUE"`)},
	{"create with the value as the name", crud.Invalid, desired(crud.Create, "New", `data: {z: $BASE64}`)},
	{"create of a certificate without keys", crud.Invalid, desired(crud.Create, "new", `type: kubernetes.io/tls, data: {z: $BASE64}`)},
	{"create of an object that exists", crud.AlreadyExists, desired(crud.Create, "leak", "data: {z: $BASE64}")},
	{"create or update with a number", crud.Invalid, desired(crud.CreateOrUpdate, "leak", "data: {z: 5}")},
	{"create or update of an object that is immutable", crud.Immutable, desired(crud.CreateOrUpdate, "fixed", "data: {z: $BASE64}")},
	{"replacing an object by one that cannot be created", crud.Invalid, desired(crud.CreateOrUpdate, "fixed", `data: {"a b": $BASE64}`, recreated)},
	{"a jq program that calls error with the value", crud.FilterFailed, filtered("leak", `error(.data.password)`)},
	{"a jq program that parses the value", crud.FilterFailed, filtered("leak", `.data.password | @base64d | tonumber`)},
	{"a jq program with the value as a format", crud.FilterFailed, filtered("leak", `.data.password as $p | . | format($p)`)},
	{"a jq program that returns the value", crud.FilterFailed, filtered("leak", `.data.password`)},
	{"a jq program that writes a number", crud.Invalid, filtered("leak", `.data.z = 5`)},
	{"a jq program that writes the value into a label", crud.Invalid, filtered("leak", `.metadata.labels.a = "it is " + (.data.password | @base64d)`)},
	{"a jq program with a token too many", crud.Malformed, filtered("leak", `.data.z = "x" $BASE64`)},
	{"a function that returns the value in an error", crud.FilterFailed, inGo(func(_ *rejected, data map[string]string) error {
		return fmt.Errorf("the password %q is old", data["password"])
	})},
	{"a function that panics with the value", crud.FilterFailed, inGo(func(_ *rejected, data map[string]string) error { panic(data) })},
	{"a function that panics with a value that it has written", crud.FilterFailed, inGo(func(r *rejected, data map[string]string) error {
		data["other"] = strings.ToUpper(r.value)
		panic("the password " + strings.ToUpper(r.value))
	})},
	{"a function that writes the value into a label", crud.Invalid, inGo(func(_ *rejected, data map[string]string) error {
		data["other"] = "it is " + data["password"]
		return nil
	})},
}

// clean checks that a text has the value in no form.
func (r *rejected) clean(what, text string) {
	r.Helper()
	for _, value := range []string{r.value, strings.ToUpper(r.value)} {
		if form := harness.Leaked(text, value); form != "" {
			r.Errorf("%s: the value of the Secret is shown %s:\n%s", what, form, text)
		}
	}
}

// everything returns the texts that programs can print for an error.
func everything(err error) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%v\n%+v\n%#v\n%q\n", err, err, err, err)
	encoded, _ := json.Marshal(struct{ Err error }{err}) //nolint:errchkjson,musttag // text is enough if it fails, whatever its names
	for cause := err; cause != nil; cause = errors.Unwrap(cause) {
		fmt.Fprintln(&text, cause)
	}
	return text.String() + string(encoded)
}

func TestSecret_RejectedInAnyWay_NoErrorHasAValue(t *testing.T) {
	s := newScene(t, quick)
	r := newRejected(s, "Secret", harness.Canary(t))
	var plan crud.Plan
	for _, rejection := range rejections {
		op := rejection.op(r, "Secret")
		_, err := s.client.Run(t.Context(), op)
		if class := crud.ClassOf(err); class != rejection.class {
			t.Errorf("%s: the class is %q, want %q: %v", rejection.name, class, rejection.class, err)
		}
		r.clean(rejection.name, everything(err))
		plan.Operations = append(plan.Operations, op)
	}

	for i, change := range s.client.Preview(t.Context(), plan.Operations) {
		diff, err := change.Diff()
		r.clean("preview of "+rejections[i].name, everything(change.Err)+everything(err)+diff+fmt.Sprint(change.Result.Warnings))
	}
	_, failed := s.client.RunPlan(t.Context(), plan)
	r.clean("preflight", everything(failed))
	plan.SkipPreflight, plan.Continue = true, true
	results, err := s.client.RunPlan(t.Context(), plan)
	content, encoding := json.Marshal(operations.File{Plan: plan}.Report(results, err))
	r.clean("the results", everything(err)+everything(encoding)+string(content))
	r.clean("the spans and metrics", measured.Exported(spans, measurements))
}

func TestSecret_RejectedFile_ProgramPrintsNoValue(t *testing.T) {
	s := newScene(t)
	r := newRejected(s, "Secret", harness.Canary(t))
	file := r.in(`file: {preflight: "off", onFailure: continue}
---
{operationType: MergePatch, kind: Secret, name: leak, mergePatch: {data: {z: 5}}}
---
{operationType: MergePatch, kind: secret, name: leak, spec: '{"stringData": {"z": "$VALUE", "y": 7}}'}
---
{operationType: JSONPatch, kind: secrets, name: leak, spec: [{op: copy, from: /data/password, path: /immutable}]}
---
{operationType: JQPatch, kind: Secret, name: leak, spec: 'error(.data.password)'}
---
{operationType: CreateOrUpdate, spec: {apiVersion: v1, kind: Secret, metadata: {name: leak}, data: {z: "$VALUE"}}}
---
{operationType: Create, spec: {apiVersion: v1, kind: Secret, metadata: {name: new}, unknown: "$VALUE"}}
`)
	for _, args := range [][]string{
		{"apply", "-"}, {"apply", "-", "--output", "json"}, {"preview", "-"},
	} {
		run := s.start(file, append(args, "--namespace", s.ns)...)
		s.ends(run, 1, "MergePatch Secret $NS/leak: Invalid: patching the object: data.z: must be a text in base64, is a number")
		if output := run.out.String(); slices.Contains(args, "json") && !strings.Contains(output, "stringData.y: must be a text, is a number") {
			t.Errorf("the results are %s", output)
		}
		r.clean(strings.Join(args, " "), run.out.String()+run.errs.String())
	}
	// The API server quotes the other object, too.
	copies := r.in(`{operationType: MergePatch, kind: Secret, name: leak, spec: {stringData: {z: "$VALUE"}}}
---
{operationType: CreateOrUpdate, spec: {apiVersion: v1, kind: ConfigMap, metadata: {name: plain, labels: {a: "$VALUE"}}}}
`)
	for _, args := range [][]string{{"apply", "-"}, {"apply", "-", "--output", "json"}, {"preview", "-"}} {
		for _, header := range []string{"", "file: {preflight: \"off\"}\n---\n"} {
			run := s.start(header+copies, append(args, "--namespace", s.ns)...)
			s.ends(run, 1, "CreateOrUpdate ConfigMap $NS/plain: Invalid: creating the object: ConfigMap \"plain\" is invalid: metadata.labels: Invalid value: \"***\"")
			r.clean(header+strings.Join(args, " "), run.out.String()+run.errs.String())
		}
	}
	for _, mistake := range []string{
		`{operationType: MergePatch, kind: Secret, name: leak, spec: {data: {z: *$VALUE}}}`,
		`{"operationType": "MergePatch", "kind": "Secret", "name": "leak", "spec": "{\"data\": {\"z\": \"$VALUE\"}"}`, `{operationType: JQPatch, kind: Secret, name: leak, spec: '.data.z = "$VALUE'}`,
	} {
		run := s.start(r.in(mistake), "apply", "-")
		s.ends(run, 2)
		r.clean(mistake, run.out.String()+run.errs.String())
	}
}

func TestSecret_DeclaredKinds_AreConfidentialToo(t *testing.T) {
	widget := schema.GroupKind{Group: group, Kind: "Widget"}
	s := newScene(t, func(options *crud.Options) { options.ConfidentialKinds = append(options.ConfidentialKinds, widget) })
	const list = `{apiVersion: crud.example.com/v1, kind: Widget, metadata: {name: a, labels: {plain: shown}}, spec: {list: [$TOKEN]}}`
	value := harness.Canary(t)
	s.run(crud.CreateOrUpdate(s.object(strings.ReplaceAll(list, "$TOKEN", `"`+value+`"`))), crud.Created)
	t.Cleanup(func() { // only Secrets may have it at the end
		if err := s.env.Dynamic.Resource(widgets).Namespace(s.ns).Delete(context.Background(), "a", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	r := &rejected{s, value}
	for want, op := range map[string]crud.Operation{
		`Invalid: patching the object: Widget.crud.example.com "a" is invalid: spec.parts[0].size: must be of type integer, is of type string`: crud.MergePatch(s.ref("Widget", "a"), r.in(`{"spec":{"parts":[{"name":"x","size":"$VALUE"}]}}`)),
		`Invalid: patching the object: Widget.crud.example.com "a" is invalid: spec.parts[1]: is a duplicate`:                                  crud.MergePatch(s.ref("Widget", "a"), r.in(`{"spec":{"parts":[{"name":"$VALUE"},{"name":"$VALUE"}]}}`)),
		"PatchTestFailed: operation 0 of the JSON patch, test of /spec/list/0: the value is another one":                                       crud.JSONPatch(s.ref("Widget", "a"), `[{"op":"test","path":"/spec/list/0","value":"guess"}]`),
		`FilterFailed: the filter panicked: it is ***`: crud.FilterPatch(s.ref("Widget", "a"), func(object *unstructured.Unstructured) error {
			panic("it is " + fmt.Sprint(object.Object["spec"].(map[string]any)["list"].([]any)[0]))
		}),
	} {
		_, err := s.client.Run(t.Context(), op)
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		r.clean(want, everything(err))
	}
	changes := s.client.Preview(t.Context(), []crud.Operation{crud.CreateOrUpdate(s.object(strings.ReplaceAll(list, "$TOKEN", `"`+value+`", b`)))})
	diff, err := changes[0].Diff()
	if err != nil || changes[0].Err != nil || !strings.Contains(diff, "-  list: '*** (before)'\n+  list: '*** (after)'\n") {
		t.Errorf("the diff is %s, %v, %v", diff, changes[0].Err, err)
	}
	r.clean("the diff", diff)

	run := s.start(`{operationType: MergePatch, kind: Widget, name: a, spec: {spec: {parts: [{name: x, size: "`+value+`"}]}}}`,
		"apply", "-", "--namespace", s.ns, "--confidential-kinds", "Widget."+group)
	s.ends(run, 1, "spec.parts[0].size: must be of type integer, is of type string")
	r.clean("the program", run.out.String()+run.errs.String())
	s.ends(s.start("", "apply", "-", "--confidential-kinds", "widgets"), 2, "-confidential-kinds", "must be kinds with their groups, such as Vault.example.com")
}
