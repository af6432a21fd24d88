/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"context"
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/test/harness"
	"github.com/mallard-dev/mallard/test/harness/words"
)

// What is in the cluster already may break a rule that came later. It must still be possible to change something else of
// it, to tell its status, and to delete it.
func TestAnObjectThatBreaksARuleOfTheWebhookCanStillLiveAndDie(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithoutWebhooks("webhook"))
	ns := env.Namespace(t)
	ours := all(classed(samples.ClassMallard), set("metadata.finalizers", []any{samples.FinalizerName}))
	create(t, env, object(ns, ours, named("cycle"), toItself("cycle")))
	create(t, env, object(ns, named("oddity"), classed("Not A Class")))
	create(t, env, object(ns, named("orphan"), unset("spec.ref.namespace")))
	env.Kubectl(t, "apply", "-f", "../../config/500-webhook-configuration.yaml")
	env.Process(t, "webhook").Start(t)

	cycle := harness.Ref{Resource: resource, Namespace: ns, Name: "cycle"}
	env.Patch(t, cycle, `{"metadata": {"labels": {"touched": "true"}}}`)
	env.Await(t, cycle, harness.HasCondition("TargetResolved", "False", "ReferenceCycle"))
	checkPatch(t, env, cycle, `{"spec": {"path": "/new"}}`, "cannot refer to itself", "spec.ref.name")
	checkPatch(t, env, cycle, `{"spec": {"ref": {"name": "other"}}}`)
	checkPatch(t, env, cycle, `{"spec": {"ref": {"name": "cycle"}}}`, "cannot refer to itself", "spec.ref.name")
	env.Delete(t, cycle)
	env.Await(t, cycle, harness.Gone)

	oddity := harness.Ref{Resource: resource, Namespace: ns, Name: "oddity"}
	checkPatch(t, env, oddity, `{"metadata": {"labels": {"touched": "true"}}, "spec": {"path": "/new"}}`)
	checkPatch(t, env, oddity, annotation(samples.ClassMallard), "the class cannot be changed", classPath)
	env.Delete(t, oddity)
	env.Await(t, oddity, harness.Gone)

	// One that never had a class is nobody's, until it is given one.
	orphan := harness.Ref{Resource: resource, Namespace: ns, Name: "orphan"}
	checkPatch(t, env, orphan, `{"spec": {"path": "/new"}}`)
	if o := env.Await(t, orphan, harness.Exists); classOf(o) != "" || len(o.GetFinalizers()) != 0 {
		t.Errorf("an update has given it the class %q and the finalizers %q", classOf(o), o.GetFinalizers())
	}
	checkPatch(t, env, orphan, annotation("Not A Class"), "invalid class", classPath)
	checkPatch(t, env, orphan, annotation(samples.ClassMallard))
	env.Await(t, orphan, harness.HasCondition("Ready", "False", "TargetKindNotFound"), hasFinalizers(samples.FinalizerName))
	env.Delete(t, orphan)
	env.Await(t, orphan, harness.Gone)
}

func annotation(class string) string {
	return `{"metadata": {"annotations": {"` + samples.ClassAnnotationKey + `": "` + class + `"}}}`
}

// checkPatch merges a patch into an object, which is refused in these words, or accepted if there are none.
func checkPatch(t *testing.T, env *harness.Env, ref harness.Ref, patch string, says ...string) {
	t.Helper()
	_, err := services(env, ref.Namespace).Patch(t.Context(), ref.Name, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict})
	checkWords(t, err, says)
}

func TestAnObjectThatBreaksANewBoundOfTheSchemaCanStillLiveAndDie(t *testing.T) {
	t.Parallel()
	env := harness.Own(t)
	ns := env.Namespace(t)
	env.Apply(t, ns, words.Target)
	create(t, env, object(ns, named("subject"), set("spec.ref", map[string]any{"apiVersion": "v1", "kind": "Service", "name": "target"}),
		set("spec.path", "/long-path"), set("spec.publish.alias", "long-alias")))
	subject := harness.Ref{Resource: resource, Namespace: ns, Name: "subject"}
	env.Await(t, subject, harness.Ready)

	tighten(t, env)
	harness.Eventually(t, "the new bounds are in force", func(ctx context.Context) error {
		_, err := services(env, ns).Create(ctx, object(ns), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil {
			return errors.New("an object that breaks them is accepted")
		}
		return nil
	})
	checkPatch(t, env, subject, `{"metadata": {"labels": {"touched": "true"}}}`)
	checkPatch(t, env, subject, `{"spec": {"visibility": "Public"}}`)
	checkPatch(t, env, subject, `{"spec": {"path": "/longer-path"}}`, "spec.path", "may not be more than 4")
	checkPatch(t, env, subject, `{"spec": {"publish": {"alias": "longer-alias"}}}`, "spec.publish", "no alias any more")
	// The controller goes on to write the status.
	env.Delete(t, harness.Ref{Resource: corev1.SchemeGroupVersion.WithResource("services"), Namespace: ns, Name: "target"})
	env.Await(t, subject, harness.HasCondition("Ready", "False", "TargetNotFound"))
	env.Delete(t, subject)
	env.Await(t, subject, harness.Gone)
}

// tighten adds a bound and a rule to the schema.
func tighten(t *testing.T, env *harness.Env) {
	t.Helper()
	definitions := env.Definitions.ApiextensionsV1().CustomResourceDefinitions()
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		crd, err := definitions.Get(t.Context(), resource.GroupResource().String(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		i := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == resource.Version })
		properties := crd.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties["spec"].Properties
		path, publish := properties["path"], properties["publish"]
		longest := int64(4)
		path.MaxLength = &longest
		publish.XValidations = append(publish.XValidations, apiextensionsv1.ValidationRule{Rule: "self.alias == ''", Message: "no alias any more"})
		properties["path"], properties["publish"] = path, publish
		_, err = definitions.Update(t.Context(), crd, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		t.Fatalf("changing the schema: %v", err)
	}
}
