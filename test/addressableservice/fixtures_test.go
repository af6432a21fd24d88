/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// object is a manifest of an AddressableService whose spec is given in YAML.
func object(name, spec string) string {
	return fmt.Sprintf("apiVersion: samples.knative.dev/v1\nkind: AddressableService\nmetadata:\n  name: %s\nspec:\n%s\n", name, indent(spec))
}

// classed is object with a class.
func classed(name, class, spec string) string {
	annotation := fmt.Sprintf("metadata:\n  annotations: {samples.knative.dev/addressableservice.class: %s}\n", class)
	return strings.Replace(object(name, spec), "metadata:\n", annotation, 1)
}

// service is a manifest of a Service with ports given in YAML's flow style.
func service(name, ports string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata:\n  name: %s\nspec:\n  ports: %s\n", name, ports)
}

const (
	onePort  = "[{name: http, port: 80}]"
	twoPorts = "[{name: http, port: 80}, {name: grpc, port: 9000, appProtocol: grpc}]"
	and      = "---\n"
)

// toService is a spec that refers to a Service.
func toService(name string) string {
	return fmt.Sprintf("ref: {apiVersion: v1, kind: Service, name: %s}", name)
}

// to is a spec that refers to an object of another kind.
func to(apiVersion, kind, name string) string {
	return fmt.Sprintf("ref: {apiVersion: %s, kind: %s, name: %s}", apiVersion, kind, name)
}

// published is a spec that refers to a Service and requests an alias.
func published(name, alias string) string {
	return toService(name) + "\npublish: {alias: " + alias + "}"
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ")
}

// local is the address of a Service in a namespace.
func local(service, namespace string) string {
	return "http://" + service + "." + namespace + ".svc.cluster.local"
}

// hasURLs is the condition of an object with exactly these addresses, none
// for none, the first of which is status.address.
func hasURLs(urls ...string) harness.Condition {
	return func(o *unstructured.Unstructured) error {
		if o == nil {
			return errors.New("it does not exist")
		}
		var got []string
		list, _, _ := unstructured.NestedSlice(o.Object, "status", "addresses")
		for _, entry := range list {
			address, _ := entry.(map[string]any)
			url, _ := address["url"].(string)
			got = append(got, url)
		}
		if diff := cmp.Diff(urls, got); diff != "" {
			return fmt.Errorf("its addresses are not as wanted (-want +got):\n%s", diff)
		}
		first, _, _ := unstructured.NestedString(o.Object, "status", "address", "url")
		if want := strings.Join(urls[:min(1, len(urls))], ""); first != want {
			return fmt.Errorf("its status.address.url is %q, not %q", first, want)
		}
		return nil
	}
}

// notReady is the condition of an object without an address whose conditions
// TargetResolved and Ready are both False for this reason.
func notReady(reason string) harness.Condition {
	return func(o *unstructured.Unstructured) error {
		for _, condition := range []harness.Condition{
			harness.HasCondition("TargetResolved", "False", reason),
			harness.HasCondition("Ready", "False", reason),
			hasURLs(),
		} {
			if err := condition(o); err != nil {
				return err
			}
		}
		return nil
	}
}

// says is the condition of an object one of whose conditions has a message with this text.
func says(text string) harness.Condition {
	return func(o *unstructured.Unstructured) error {
		if o == nil {
			return errors.New("it does not exist")
		}
		list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		if !strings.Contains(fmt.Sprint(list), text) {
			return fmt.Errorf("none of its conditions says %q: %v", text, list)
		}
		return nil
	}
}

// removeAtEnd deletes what is in no namespace of the test's when the test ends.
func removeAtEnd(t *testing.T, env *harness.Env, refs ...harness.Ref) {
	t.Helper()
	t.Cleanup(func() {
		for _, ref := range refs {
			// The context of the test is over by now.
			err := env.Dynamic.Resource(ref.Resource).Namespace(ref.Namespace).Delete(context.Background(), ref.Name, metav1.DeleteOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				t.Errorf("deleting %s: %v", ref, err)
			}
		}
	})
}
