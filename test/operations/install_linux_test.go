/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mallard-dev/mallard/test/harness"
)

// readyWithin is how long `ko apply` and the samples may take together, once the images' programs have been compiled.
const readyWithin = time.Minute

// root is the folder of this checkout.
const root = "../.."

// platform keeps ko from building for machines that are not here.
const platform = "--platform=linux/" + runtime.GOARCH

func TestMain(m *testing.M) { harness.Main(m, harness.Bare(), harness.WithImages()) }

func TestKoApplyThenSamplesThenKoDelete(t *testing.T) {
	env := harness.Shared(t)
	before := everything(t, env)
	// Builds the images, so that what is timed is what a user waits for the second time.
	env.Ko(t, root, "resolve", platform, "--recursive", "--filename", "config/")

	began := time.Now()
	env.Ko(t, root, "apply", platform, "--recursive", "--filename", "config/")
	env.Kubectl(t, "wait", "--namespace", "knative-samples", "--for=condition=Available", "deployment", "--all", "--timeout=60s")
	env.Kubectl(t, "apply", "--filename", "../../samples/")
	env.Kubectl(t, "wait", "--for=condition=Ready", "asvc", "--all", "--timeout=60s")
	took := time.Since(began)
	t.Logf("from ko apply until the samples were Ready: %v", took)
	if took > readyWithin {
		t.Errorf("from ko apply until the samples were Ready it took %v, want at most %v", took, readyWithin)
	}

	env.Kubectl(t, "delete", "--filename", "../../samples/", "--timeout=60s")
	env.Ko(t, root, "delete", "--recursive", "--filename", "config/", "--timeout=60s")
	harness.Eventually(t, "the cluster is as it was", func(context.Context) error {
		if diff := cmp.Diff(before, everything(t, env)); diff != "" {
			return fmt.Errorf("before (-) and after (+) differ:\n%s", diff) //nolint:err113 // a text for people
		}
		return nil
	})
}

// everything lists the names of all objects of all resources that can be listed. Events are left out: they tell what
// was, and expire by themselves.
func everything(t *testing.T, env *harness.Env) []string {
	t.Helper()
	client, err := metadata.NewForConfig(env.Config)
	if err != nil {
		t.Fatal(err)
	}
	lists, err := env.Kube.Discovery().ServerPreferredResources()
	if err != nil {
		t.Fatalf("asking which resources there are: %v", err)
	}
	var names []string
	for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list"}}, lists) {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, resource := range list.APIResources {
			if resource.Name == "events" || resource.Name == "componentstatuses" {
				continue
			}
			objects, err := client.Resource(version.WithResource(resource.Name)).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatalf("listing %s: %v", resource.Name, err)
			}
			names = append(names, "resource "+resource.Name+"."+version.String())
			for i := range objects.Items {
				names = append(names, strings.Join([]string{resource.Name, objects.Items[i].Namespace, objects.Items[i].Name}, " "))
			}
		}
	}
	if len(names) == 0 {
		t.Fatal(errors.New("the API server lists no resource"))
	}
	slices.Sort(names)
	return names
}
