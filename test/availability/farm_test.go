//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package availability

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/config"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/test/fixtures"
)

const (
	// sets is the number of sets of objects: an AddressableService, a Deployment, an AddressBinding and a SimpleDeployment each.
	sets = 50
	// churn is the time during which they change, and atRest the time without writes at the end.
	churn, atRest = 2 * time.Minute, 10 * time.Second
)

const set = `
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata: {name: NAME}
spec:
  ref: {apiVersion: v1, kind: Service, name: target}
  publish: {alias: NAME-SUFFIX}
---` + fixtures.Bound + `---
apiVersion: samples.knative.dev/v1alpha1
kind: SimpleDeployment
metadata: {name: NAME}
spec: {image: first, replicas: 2}
`

// recreated are the resources of the manifests of a set that are deleted and created again, by their order.
var recreated = map[int]schema.GroupVersionResource{
	0: v1.SchemeGroupVersion.WithResource("addressableservices"),
	2: v1.SchemeGroupVersion.WithResource("addressbindings"),
	3: v1alpha1.SchemeGroupVersion.WithResource("simpledeployments"),
}

// farm is a namespace with sets of objects that several controllers reconcile.
type farm struct {
	*harness.Env

	ns, suffix, directory string
}

func newFarm(t *testing.T, env *harness.Env, n int) farm {
	t.Helper()
	f := farm{Env: env, ns: env.Namespace(t), directory: directory}
	f.suffix = f.ns[len(f.ns)-5:]
	var manifest strings.Builder
	manifest.WriteString(fixtures.Target)
	for i := range n {
		manifest.WriteString("---" + f.manifest(nameOf(i)))
	}
	env.Apply(t, f.ns, manifest.String())
	return f
}

func nameOf(i int) string { return fmt.Sprintf("o%03d", i) }

// manifest is that of the set with a name.
func (f farm) manifest(name string) string {
	return strings.NewReplacer("NAME", name, "SUFFIX", f.suffix).Replace(set)
}

// create applies one manifest of a set.
func (f farm) create(t *testing.T, name string, i int) error {
	t.Helper()
	_, err := f.TryApply(t, f.ns, strings.Split(f.manifest(name), "---")[i])
	return err
}

// change makes a random change, to an object or to what a controller has made of it.
func (f farm) change(t *testing.T, random *rand.Rand, n int) error {
	t.Helper()
	ctx, name := t.Context(), nameOf(random.IntN(n))
	client := fixtures.Client(f.Env)
	merge := func(format string, args ...any) []byte { return fmt.Appendf(nil, format, args...) }
	var err error
	switch change := random.IntN(10); change {
	case 0, 2, 3: // the same name again; an object that is being deleted is created by rebuild
		if err = f.Dynamic.Resource(recreated[change]).Namespace(f.ns).Delete(ctx, name, metav1.DeleteOptions{}); err == nil {
			err = f.create(t, name, change)
		}
	case 1: // another address
		_, err = client.SamplesV1().AddressableServices(f.ns).Patch(ctx, name, types.MergePatchType, merge(`{"spec":{"path":"/%d"}}`, random.IntN(100)), metav1.PatchOptions{})
	case 4: // the address of another object
		_, err = client.SamplesV1().AddressBindings(f.ns).Patch(ctx, name, types.MergePatchType, merge(`{"spec":{"address":{"name":%q}}}`, nameOf(random.IntN(n))), metav1.PatchOptions{})
	case 5: // its alias
		err = f.Kube.CoreV1().Services(f.directory).Delete(ctx, name+"-"+f.suffix, metav1.DeleteOptions{})
	case 6: // the variable
		_, err = f.Kube.AppsV1().Deployments(f.ns).Patch(ctx, name, types.JSONPatchType, []byte(`[{"op":"remove","path":"/spec/template/spec/containers/0/env"}]`), metav1.PatchOptions{})
	case 7: // the number of Pods
		_, err = client.SamplesV1alpha1().SimpleDeployments(f.ns).Patch(ctx, name, types.MergePatchType, merge(`{"spec":{"replicas":%d}}`, 1+random.IntN(3)), metav1.PatchOptions{})
	case 8: // their image
		_, err = client.SamplesV1alpha1().SimpleDeployments(f.ns).Patch(ctx, name, types.MergePatchType, merge(`{"spec":{"image":"v%d"}}`, random.IntN(100)), metav1.PatchOptions{})
	default: // one of them
		pods, listErr := f.Kube.CoreV1().Pods(f.ns).List(ctx, metav1.ListOptions{})
		if err = listErr; err == nil && len(pods.Items) > 0 {
			err = f.Kube.CoreV1().Pods(f.ns).Delete(ctx, pods.Items[random.IntN(len(pods.Items))].Name, metav1.DeleteOptions{})
		}
	}
	if apierrors.IsNotFound(err) || apierrors.IsInvalid(err) || apierrors.IsConflict(err) {
		return nil // it has been changed already
	}
	return err
}

// move makes another namespace the directory.
func (f *farm) move(t *testing.T) {
	t.Helper()
	to, roles := f.Namespace(t), f.Kube.RbacV1()
	role, err := roles.Roles(f.directory).Get(t.Context(), "mallard-directory", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	binding, err := roles.RoleBindings(f.directory).Get(t.Context(), "mallard-directory", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	role.ObjectMeta, binding.ObjectMeta = metav1.ObjectMeta{Name: role.Name}, metav1.ObjectMeta{Name: binding.Name}
	if _, err := roles.Roles(to).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := roles.RoleBindings(to).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	f.SetConfig(t, config.AddressableName, map[string]string{"directory-namespace": to})
	f.directory = to
}

// churn changes objects for a time, after half of which the directory moves. It returns the number of changes.
func (f *farm) churn(t *testing.T, random *rand.Rand) (changes int) {
	t.Helper()
	for end := time.Now().Add(churn); time.Now().Before(end); changes++ {
		if f.directory == directory && time.Until(end) < churn/2 {
			f.move(t)
		}
		if err := f.change(t, random, sets); err != nil {
			t.Fatal(err)
		}
	}
	return changes
}

// rebuild creates the objects that were deleted.
func (f farm) rebuild(t *testing.T, n int) error {
	t.Helper()
	for order, resource := range recreated {
		list, err := f.Dynamic.Resource(resource).Namespace(f.ns).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		exist := map[string]bool{}
		for _, object := range list.Items {
			if exist[object.GetName()] = true; object.GetDeletionTimestamp() != nil {
				return fmt.Errorf("%s %s is being deleted", object.GetKind(), object.GetName())
			}
		}
		for i := range n {
			if !exist[nameOf(i)] {
				if err := f.create(t, nameOf(i), order); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// bound returns the address that the AddressBinding of a set gives, or an error if it is not ready.
func (f farm) bound(ctx context.Context, name string) (string, error) {
	client := fixtures.Client(f.Env).SamplesV1()
	binding, err := client.AddressBindings(f.ns).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	as, err := client.AddressableServices(f.ns).Get(ctx, binding.Spec.Address.Name, metav1.GetOptions{})
	if err == nil && (!binding.Status.GetCondition(apis.ConditionReady).IsTrue() || as.Status.Address == nil) {
		err = fmt.Errorf("AddressBinding %s: %+v", name, binding.Status)
	}
	if err != nil {
		return "", err
	}
	return as.Status.Address.URL.String(), nil
}

// settled returns an error unless each object is ready, and has exactly its children.
func (f farm) settled(ctx context.Context, n int) error {
	aliases, err := f.Kube.CoreV1().Services(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	aliases.Items = slices.DeleteFunc(aliases.Items, func(s corev1.Service) bool { return !strings.HasSuffix(s.Name, "-"+f.suffix) })
	elsewhere := slices.IndexFunc(aliases.Items, func(s corev1.Service) bool { return s.Namespace != f.directory })
	if len(aliases.Items) != n || elsewhere >= 0 {
		return fmt.Errorf("%d objects have %d aliases, of which number %d is not in the directory", n, len(aliases.Items), elsewhere)
	}
	pods, err := f.Kube.CoreV1().Pods(f.ns).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	images := map[types.UID][]string{}
	for _, pod := range pods.Items {
		if owner := metav1.GetControllerOf(&pod); owner == nil {
			return fmt.Errorf("Pod %s has no owner", pod.Name)
		} else if pod.DeletionTimestamp == nil {
			images[owner.UID] = append(images[owner.UID], pod.Spec.Containers[0].Image)
		}
	}
	for i := range n {
		as, err := fixtures.Client(f.Env).SamplesV1().AddressableServices(f.ns).Get(ctx, nameOf(i), metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !as.Status.GetCondition(apis.ConditionReady).IsTrue() || as.Status.ObservedGeneration != as.Generation || as.Status.Address == nil {
			return fmt.Errorf("AddressableService %s: %+v", as.Name, as.Status)
		}
		deployment, err := f.Kube.AppsV1().Deployments(f.ns).Get(ctx, as.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		want, err := f.bound(ctx, as.Name)
		if err != nil {
			return err
		}
		if env := deployment.Spec.Template.Spec.Containers[0].Env; len(env) != 1 || env[0].Value != want {
			return fmt.Errorf("Deployment %s has the variables %+v, want the address %s", as.Name, env, want)
		}
		sd, err := fixtures.Client(f.Env).SamplesV1alpha1().SimpleDeployments(f.ns).Get(ctx, as.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if have := images[sd.UID]; len(have) != int(sd.Spec.Replicas) || slices.ContainsFunc(have, func(image string) bool { return image != sd.Spec.Image }) {
			return fmt.Errorf("SimpleDeployment %s has Pods with %q, want %d with %s", sd.Name, have, sd.Spec.Replicas, sd.Spec.Image)
		}
	}
	return nil
}

// awaitRest waits until everything is as it should be and the controllers have stopped writing.
func (f farm) awaitRest(t *testing.T, n int) {
	t.Helper()
	harness.EventuallyWithin(t, patience, "every object has its children, and no others", func(ctx context.Context) error {
		if err := f.rebuild(t, n); err != nil {
			return err
		}
		return f.settled(ctx, n)
	})
	// Writes that undo each other would not end.
	mark, since := f.Mark(t), time.Now()
	harness.EventuallyWithin(t, patience, "the controllers stop writing", func(context.Context) error {
		if writes := mark.Entries(t, work, harness.ByUser(f.User("controller"))); len(writes) > 0 {
			mark, since = f.Mark(t), time.Now()
			return fmt.Errorf("%d writes, the first of which is %+v", len(writes), writes[0])
		}
		if quiet := time.Since(since); quiet < atRest {
			return fmt.Errorf("the last write was %v ago", quiet)
		}
		return nil
	})
	if err := f.settled(t.Context(), n); err != nil {
		t.Error(err)
	}
}
