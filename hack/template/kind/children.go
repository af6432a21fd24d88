/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kind

import (
	"maps"
	"slices"
	"strings"
)

// field is the field of the spec that a child is made from.
type field struct {
	Name, JSON, Description string
	// Default and Sample are values that are admitted, Other is a third one.
	Default, Sample, Other string
	MaxLength              int
	// Forbidden are characters that the validation rejects, and Rule explains it. Invalid is a value with one.
	Forbidden, Rule, Invalid string
}

var (
	message = field{
		Name: "Message", JSON: "message", Description: "Text that is published.", Default: "Hello", Sample: "Good morning", Other: "Good evening",
		MaxLength: 1024, Forbidden: "\r\n", Rule: "The message is one line.", Invalid: "two\nlines",
	}
	image = field{
		Name: "Image", JSON: "image", Description: "Image that the container of each Pod runs.", MaxLength: 1024,
		Default: "registry.k8s.io/pause:3.10", Sample: "registry.k8s.io/pause:3.9", Other: "example.com/other",
		Forbidden: " \t\r\n", Rule: "An image contains no white space.", Invalid: "an image",
	}
	app = field{
		Name: "App", JSON: "app", Description: "Value of the label app that the Pods of the application have.", MaxLength: 63,
		Default: "app", Sample: "hello", Other: "other", Forbidden: " \t\r\n/", Rule: "The value of a label contains neither white space nor slashes.",
		Invalid: "a/b",
	}
)

// child is a kind of Kubernetes that a new kind can own.
type child struct {
	builtIn

	Field field
	// Purpose completes the sentence that begins with the new kind.
	Purpose string
	// Content is the field of the child's type that is set, and expression its value, in which o is the object and labels are its labels.
	Content, expression string
	// Replicas adds the number of replicas to the spec.
	Replicas bool
	// Ready are the fields of the child's status that equal the number of replicas once its rollout is complete.
	Ready []string
	// Recreate has a child that differs deleted and created again, because it cannot be changed.
	Recreate bool
	// Drift is a statement that changes the child c, and Patch a merge patch that changes its field at Path.
	Drift, Patch, Path string
	// Foreign is a merge patch of a field that the expression does not set, for a child whose repair leaves such fields.
	Foreign string
}

const (
	pods = `corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: o.Spec.Image}}},
		}`
	podsOfJob = `corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{
				Containers:    []corev1.Container{{Name: "main", Image: o.Spec.Image}},
				RestartPolicy: corev1.RestartPolicyNever,
			},
		}`
	selector   = `Selector: &metav1.LabelSelector{MatchLabels: labels}`
	ofApp      = `metav1.LabelSelector{MatchLabels: map[string]string{"app": o.Spec.App}}`
	imageDrift = `c.Spec.Template.Spec.Containers[0].Image = "changed"`
	replicas   = `{"spec": {"replicas": 3}}`
	containers = `{"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "changed"}]}}}}`
	restarted  = `{"spec": {"template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z"}}}}}`
)

// children are the kinds that a new kind can own, by API version and kind.
var children = map[string]child{
	"v1.ConfigMap": {
		Field: message, Purpose: "publishes its message in a ConfigMap.",
		Content: "Data", expression: `map[string]string{"message": o.Spec.Message}`,
		Drift: `c.Data = map[string]string{"message": "changed"}`, Patch: `{"data": {"message": "changed"}}`, Path: "data.message",
	},
	"v1.Secret": {
		Field: message, Purpose: "stores its message in a Secret.",
		Content: "Data", expression: `map[string][]byte{"message": []byte(o.Spec.Message)}`,
		Drift: `c.Data = map[string][]byte{"message": []byte("changed")}`, Patch: `{"data": {"message": "Y2hhbmdlZA=="}}`, Path: "data.message",
	},
	"v1.Service": {
		Field: app, Purpose: "gives the Pods of an application a Service.",
		Content: "Spec", expression: `corev1.ServiceSpec{
			Selector: map[string]string{"app": o.Spec.App},
			Ports:    []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080)}},
		}`,
		Drift: `c.Spec.Selector = map[string]string{"app": "changed"}`, Patch: `{"spec": {"selector": {"app": "changed"}}}`, Path: "spec.selector",
		Foreign: `{"spec": {"sessionAffinity": "ClientIP"}}`,
	},
	"apps/v1.DaemonSet": {
		Field: image, Purpose: "runs its image on each node by a DaemonSet.",
		Content: "Spec", expression: "appsv1.DaemonSetSpec{\n" + selector + ",\nTemplate: " + pods + ",\n}",
		Drift: imageDrift, Patch: containers, Path: "spec.template.spec.containers", Foreign: restarted,
	},
	"apps/v1.Deployment": {
		Field: image, Purpose: "runs its image by a Deployment.", Replicas: true, Ready: []string{"UpdatedReplicas", "Replicas", "AvailableReplicas"},
		Content: "Spec", expression: "appsv1.DeploymentSpec{\nReplicas: o.Spec.Replicas,\n" + selector + ",\nTemplate: " + pods + ",\n}",
		Drift: imageDrift, Patch: replicas, Path: "spec.replicas", Foreign: restarted,
	},
	"apps/v1.ReplicaSet": {
		Field: image, Purpose: "runs its image by a ReplicaSet.", Replicas: true, Ready: []string{"Replicas", "AvailableReplicas"},
		Content: "Spec", expression: "appsv1.ReplicaSetSpec{\nReplicas: o.Spec.Replicas,\n" + selector + ",\nTemplate: " + pods + ",\n}",
		Drift: imageDrift, Patch: replicas, Path: "spec.replicas", Foreign: restarted,
	},
	"apps/v1.StatefulSet": {
		Field: image, Purpose: "runs its image by a StatefulSet.", Replicas: true, Ready: []string{"UpdatedReplicas", "Replicas", "AvailableReplicas"},
		Content: "Spec", expression: "appsv1.StatefulSetSpec{\nReplicas: o.Spec.Replicas,\nServiceName: nameFor(o),\n" + selector +
			",\nTemplate: " + pods + ",\n}",
		Drift: imageDrift, Patch: replicas, Path: "spec.replicas", Foreign: restarted,
	},
	"batch/v1.CronJob": {
		Field: image, Purpose: "runs its image once an hour by a CronJob.",
		Content: "Spec", expression: "batchv1.CronJobSpec{\nSchedule: \"@hourly\",\nJobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{\nTemplate: " +
			podsOfJob + ",\n}},\n}",
		Drift: `c.Spec.Schedule = "@daily"`, Patch: `{"spec": {"schedule": "@daily"}}`, Path: "spec.schedule",
		Foreign: `{"spec": {"suspend": true}}`,
	},
	"batch/v1.Job": {
		Field: image, Purpose: "runs its image once by a Job.", Recreate: true,
		Content: "Spec", expression: "batchv1.JobSpec{\nTemplate: " + podsOfJob + ",\n}",
		Drift: imageDrift, Path: "spec.template.spec.containers",
	},
	"networking.k8s.io/v1.Ingress": {
		Field: app, Purpose: "routes requests to a Service of the name of its application by an Ingress.",
		Content: "Spec", expression: `networkingv1.IngressSpec{DefaultBackend: &networkingv1.IngressBackend{
			Service: &networkingv1.IngressServiceBackend{Name: o.Spec.App, Port: networkingv1.ServiceBackendPort{Number: 80}},
		}}`,
		Drift: `c.Spec.DefaultBackend.Service.Name = "changed"`,
		Patch: `{"spec": {"defaultBackend": {"service": {"name": "changed"}}}}`, Path: "spec.defaultBackend",
		Foreign: `{"spec": {"ingressClassName": "other"}}`,
	},
	"networking.k8s.io/v1.NetworkPolicy": {
		Field: app, Purpose: "isolates the Pods of an application by a NetworkPolicy.",
		Content: "Spec", expression: "networkingv1.NetworkPolicySpec{\nPodSelector: " + ofApp +
			",\nPolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},\n}",
		Drift: `c.Spec.PodSelector.MatchLabels = map[string]string{"app": "changed"}`,
		Patch: `{"spec": {"podSelector": {"matchLabels": {"app": "changed"}}}}`, Path: "spec.podSelector",
		Foreign: `{"spec": {"egress": [{}]}}`,
	},
	"policy/v1.PodDisruptionBudget": {
		Field: app, Purpose: "keeps the Pods of an application running by a PodDisruptionBudget.",
		Content: "Spec", expression: "policyv1.PodDisruptionBudgetSpec{\nMaxUnavailable: new(intstr.FromInt32(1)),\nSelector: &" + ofApp + ",\n}",
		Drift: "c.Spec.MaxUnavailable = new(intstr.FromInt32(2))", Patch: `{"spec": {"maxUnavailable": 2}}`, Path: "spec.maxUnavailable",
		Foreign: `{"spec": {"unhealthyPodEvictionPolicy": "AlwaysAllow"}}`,
	},
}

// targets are manifests of built-in kinds that a new kind can refer to, apart from those of the samples.
//
//nolint:gosec // the Secret holds no secret
var targets = map[string]string{
	"v1.ConfigMap": `{apiVersion: v1, kind: ConfigMap, metadata: {name: target}, data: {a: b}}`,
	"v1.PersistentVolumeClaim": `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: target}, ` +
		`spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`,
	"v1.Secret":         `{apiVersion: v1, kind: Secret, metadata: {name: target}, stringData: {a: b}}`,
	"v1.Service":        `{apiVersion: v1, kind: Service, metadata: {name: target}, spec: {ports: [{port: 80}]}}`,
	"v1.ServiceAccount": `{apiVersion: v1, kind: ServiceAccount, metadata: {name: target}}`,
}

// owned returns the kinds that a new kind can own, for messages.
func owned() string { return strings.Join(slices.Sorted(maps.Keys(children)), ", ") }

// NeedsLabels reports whether the expression uses the variable labels.
func (c child) NeedsLabels() bool { return strings.Contains(c.expression, "labels") }

// Uses reports whether the expression uses a package.
func (c child) Uses(pkg string) bool { return strings.Contains(c.expression, pkg+".") }

// Drifts reports whether the drift uses a package.
func (c child) Drifts(pkg string) bool { return strings.Contains(c.Drift, pkg+".") }

// PathArgs are the steps of Path as arguments of a Go function.
func (c child) PathArgs() string { return `"` + strings.ReplaceAll(c.Path, ".", `", "`) + `"` }

// Merges reports whether a repair leaves the fields that the expression does not set. The data of a ConfigMap is replaced as a whole.
func (c child) Merges() bool { return c.Content == "Spec" && !c.Recreate }

// Repair is the verb of the request that repairs the child.
func (c child) Repair() string {
	switch {
	case c.Recreate:
		return "delete"
	case c.Merges():
		return "patch"
	}
	return "update"
}

// Repairing is the present participle of Repair.
func (c child) Repairing() string { return strings.TrimSuffix(c.Repair(), "e") + "ing" }

// Value is the expression of Content.
func (c child) Value() string { return c.expression }
