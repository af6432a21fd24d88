/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package install

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// eachDeployment runs a test for each process of each installation.
func eachDeployment(t *testing.T, test func(t *testing.T, i *installation, d *appsv1.Deployment)) {
	t.Helper()
	for _, overlay := range installations {
		i := rendered(t, overlay)
		want := []string{"controller", "webhook"}
		if strings.HasSuffix(overlay, "hooks") {
			want = []string{"controller", "hooks", "webhook"}
		}
		if overlay == withoutWebhook {
			want = []string{"controller"}
		}
		if got := slices.Sorted(maps.Keys(i.deployments)); !slices.Equal(got, want) {
			t.Errorf("overlay %s has the Deployments %q, want %q", overlay, got, want)
		}
		for name, d := range i.deployments {
			t.Run(overlay+"/"+name, func(t *testing.T) { test(t, i, d) })
		}
	}
}

func selects(t *testing.T, selector *metav1.LabelSelector, set map[string]string) bool {
	t.Helper()
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	return !parsed.Empty() && parsed.Matches(labels.Set(set))
}

// One replica may always be evicted: a node can be drained, an update continues, and another replica runs.
func TestWorkloads_DisruptionBudget_AllowsOneEviction(t *testing.T) {
	eachDeployment(t, func(t *testing.T, i *installation, d *appsv1.Deployment) {
		replicas := int(*d.Spec.Replicas)
		if replicas < 2 {
			t.Errorf("it has %d replicas: the loss of one is the loss of all", replicas)
		}
		own := 0
		for _, b := range i.budgets {
			if !selects(t, b.Spec.Selector, d.Spec.Template.Labels) {
				continue
			}
			own++
			stay := 0
			if b.Spec.MinAvailable != nil {
				stay = b.Spec.MinAvailable.IntValue()
			} else if b.Spec.MaxUnavailable != nil {
				stay = replicas - b.Spec.MaxUnavailable.IntValue()
			}
			if stay < 1 || stay >= replicas {
				t.Errorf("budget %s lets %d of %d replicas stay, want at least one to stay and one to go", b.Name, stay, replicas)
			}
		}
		if own != 1 {
			t.Errorf("%d disruption budgets select its Pods: more than one would keep a node from being emptied", own)
		}
		update := d.Spec.Strategy.RollingUpdate
		if update == nil || update.MaxUnavailable.IntValue() != 0 || update.MaxSurge.IntValue() < 1 {
			t.Errorf("an update deletes Pods before others run: %v", update)
		}
	})
}

// The selector can never be changed, so it holds nothing that a release changes, and selects no other process.
func TestWorkloads_Selectors_NeverChange(t *testing.T) {
	eachDeployment(t, func(t *testing.T, i *installation, d *appsv1.Deployment) {
		for label := range d.Spec.Selector.MatchLabels {
			if !slices.Contains([]string{"app.kubernetes.io/component", "app.kubernetes.io/part-of"}, label) {
				t.Errorf("it selects by %s", label)
			}
		}
		for _, other := range i.deployments {
			if got, want := selects(t, d.Spec.Selector, other.Spec.Template.Labels), other.Name == d.Name; got != want {
				t.Errorf("whether it selects the Pods of %s: %t, want %t", other.Name, got, want)
			}
		}
	})
}

func TestWorkloads_Replicas_AreSpreadOverZonesAndNodes(t *testing.T) {
	eachDeployment(t, func(t *testing.T, _ *installation, d *appsv1.Deployment) {
		var keys []string
		for _, c := range d.Spec.Template.Spec.TopologySpreadConstraints {
			keys = append(keys, c.TopologyKey)
			if c.MaxSkew != 1 || !selects(t, c.LabelSelector, d.Spec.Template.Labels) {
				t.Errorf("spread over %s: skew %d of what %v selects, want 1 of the Pods of the same process", c.TopologyKey, c.MaxSkew, c.LabelSelector)
			}
			// Else Pods of the revision that is being replaced count, and an update could come to a halt.
			if !slices.Equal(c.MatchLabelKeys, []string{"pod-template-hash"}) {
				t.Errorf("spread over %s counts the Pods of other revisions", c.TopologyKey)
			}
		}
		if want := []string{corev1.LabelTopologyZone, corev1.LabelHostname}; !slices.Equal(keys, want) {
			t.Errorf("it is spread over %v, want %v", keys, want)
		}
	})
}

// Each port is set by a variable, so that processes on one machine can have their own, and each Service leads to one.
func TestWorkloads_Ports_AreConfiguredAndServed(t *testing.T) {
	eachDeployment(t, func(t *testing.T, i *installation, d *appsv1.Deployment) {
		container := d.Spec.Template.Spec.Containers[0]
		names := map[string]int32{}
		for _, p := range container.Ports {
			names[p.Name] = p.ContainerPort
			told := slices.ContainsFunc(container.Env, func(e corev1.EnvVar) bool { return e.Value == strconv.Itoa(int(p.ContainerPort)) })
			if !told {
				t.Errorf("no variable sets its port %s (%d)", p.Name, p.ContainerPort)
			}
		}
		for _, name := range []string{"probes", "profiling", "metrics"} {
			if names[name] == 0 {
				t.Errorf("it has no port %s", name)
			}
		}
		for what, probe := range map[string]*corev1.Probe{
			"startup": container.StartupProbe, "readiness": container.ReadinessProbe, "liveness": container.LivenessProbe,
		} {
			if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Port != intstr.FromString("probes") {
				t.Errorf("its %s probe does not use the port probes: %v", what, probe)
			}
		}
		checkServices(t, i, d, names)
	})
}

// checkServices checks the Services that lead to a Deployment's Pods, which have these ports.
func checkServices(t *testing.T, i *installation, d *appsv1.Deployment, ports map[string]int32) {
	t.Helper()
	var services []string
	for _, s := range i.services {
		if !labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(d.Spec.Template.Labels)) {
			continue
		}
		services = append(services, s.Name)
		for _, p := range s.Spec.Ports {
			if ports[p.TargetPort.StrVal] == 0 {
				t.Errorf("Service %s leads to its port %q, which it does not have", s.Name, p.TargetPort.String())
			}
			if s.Spec.ClusterIP == corev1.ClusterIPNone && p.Port != ports[p.TargetPort.StrVal] {
				t.Errorf("Service %s is headless, so its port %d must be that of the Pods", s.Name, p.Port)
			}
		}
	}
	if !slices.Contains(services, d.Name+"-metrics") {
		t.Errorf("the Services that lead to it are %v, want one for its metrics", services)
	}
}

func TestWorkloads_SecurityContext_IsMinimal(t *testing.T) {
	eachDeployment(t, func(t *testing.T, i *installation, d *appsv1.Deployment) {
		pod := d.Spec.Template.Spec
		container := pod.Containers[0]
		for what, holds := range map[string]bool{
			"requests CPU and memory": !container.Resources.Requests.Cpu().IsZero() && !container.Resources.Requests.Memory().IsZero(),
			"has a limit of memory":   !container.Resources.Limits.Memory().IsZero(),
			// The programs of hooks need the other half.
			"passes its memory limit to the Go runtime": slices.ContainsFunc(container.Env, func(e corev1.EnvVar) bool {
				ref, half := e.ValueFrom, e.Value == "512MiB" && container.Resources.Limits.Memory().Value() == 1<<30
				return e.Name == "GOMEMLIMIT" && (half || ref != nil && ref.ResourceFieldRef != nil && ref.ResourceFieldRef.Resource == "limits.memory")
			}),
			"has no limit of CPU":            container.Resources.Limits.Cpu().IsZero(),
			"has a priority class":           i.objects["PriorityClass "+pod.PriorityClassName] != nil,
			"says that it needs its token":   pod.AutomountServiceAccountToken != nil && *pod.AutomountServiceAccountToken,
			"gets no variables for Services": pod.EnableServiceLinks != nil && !*pod.EnableServiceLinks,
			"cannot write to its root":       container.SecurityContext.ReadOnlyRootFilesystem != nil && *container.SecurityContext.ReadOnlyRootFilesystem,
			"has an image that ko builds":    strings.HasPrefix(container.Image, "ko://github.com/mallard-dev/mallard/cmd/"),
			"has no volume except for temporary files, whose size is limited": !slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool {
				return v.EmptyDir == nil || v.EmptyDir.SizeLimit == nil
			}),
		} {
			if !holds {
				t.Errorf("it does not hold that it %s", what)
			}
		}
		account := typed[corev1.ServiceAccount](t, i.objects["ServiceAccount "+d.Namespace+"/"+pod.ServiceAccountName])
		if account.AutomountServiceAccountToken == nil || *account.AutomountServiceAccountToken {
			t.Errorf("any Pod of account %s gets its token unasked", account.Name)
		}
		for name, fieldPath := range map[string]string{"SYSTEM_NAMESPACE": "metadata.namespace", "POD_NAME": "metadata.name"} {
			set := slices.ContainsFunc(container.Env, func(e corev1.EnvVar) bool {
				return e.Name == name && e.ValueFrom != nil && e.ValueFrom.FieldRef != nil && e.ValueFrom.FieldRef.FieldPath == fieldPath
			})
			if !set {
				t.Errorf("%s is not its %s", name, fieldPath)
			}
		}
	})
}

// The status of a failing Pod contains the error, so that the log of an exited container is not needed.
func TestWorkloads_TerminationMessage_ReportsTheCause(t *testing.T) {
	eachDeployment(t, func(t *testing.T, _ *installation, d *appsv1.Deployment) {
		for _, c := range d.Spec.Template.Spec.Containers {
			if c.TerminationMessagePolicy != corev1.TerminationMessageFallbackToLogsOnError {
				t.Errorf("container %s has the termination message policy %q", c.Name, c.TerminationMessagePolicy)
			}
		}
	})
}
