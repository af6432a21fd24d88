/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package environment

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const (
	// describeTimeout bounds the questions to an API server that may be the problem itself.
	describeTimeout = 10 * time.Second
	// describedLines is the number of last lines of a container that are shown.
	describedLines = 15
)

// SystemNamespace is the namespace of the operator's first Deployment.
func (e *Env) SystemNamespace() string {
	for _, object := range e.Manifests {
		if object.GetKind() == "Deployment" {
			return object.GetNamespace()
		}
	}
	return ""
}

// DescribePods describes the state of the Pods of the system namespace and the last output of their containers as text for users. Errors
// become part of the text, because they are a diagnosis, too.
func (e *Env) DescribePods(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	client, err := kubernetes.NewForConfig(e.Config)
	if err != nil {
		return "Pods: " + err.Error()
	}
	list, err := client.CoreV1().Pods(e.SystemNamespace()).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "Pods: " + err.Error()
	}
	if len(list.Items) == 0 {
		return "there are no Pods in namespace " + e.SystemNamespace()
	}
	var out strings.Builder
	for i := range list.Items {
		describePod(&out, &list.Items[i])
		out.WriteString(lastLines(ctx, client, &list.Items[i]))
	}
	return strings.TrimRight(out.String(), "\n")
}

func describePod(out *strings.Builder, pod *corev1.Pod) {
	fmt.Fprintf(out, "\nPod %s (%s)\n", pod.Name, pod.Status.Phase)
	for _, condition := range pod.Status.Conditions {
		if condition.Status != corev1.ConditionTrue && condition.Message != "" {
			fmt.Fprintf(out, "  condition %s=%s  reason %s: %s\n", condition.Type, condition.Status, condition.Reason, condition.Message)
		}
	}
	for _, c := range pod.Status.ContainerStatuses {
		if waiting := c.State.Waiting; waiting != nil {
			fmt.Fprintf(out, "  container %s waits: %s: %s\n", c.Name, waiting.Reason, waiting.Message)
		}
		if last := c.LastTerminationState.Terminated; last != nil {
			fmt.Fprintf(out, "  container %s has ended before: exit code %d, %s\n", c.Name, last.ExitCode, last.Reason)
		}
	}
}

// lastLines are those of the run that says most: the one before, if a container has been started again.
func lastLines(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod) string {
	var out strings.Builder
	for _, c := range pod.Status.ContainerStatuses {
		text, err := client.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{
			Container: c.Name, TailLines: new(int64(describedLines)), Previous: c.RestartCount > 0 && !c.Ready,
		}).DoRaw(ctx)
		if err != nil {
			text = []byte(err.Error())
		}
		for line := range strings.Lines(string(text)) {
			out.WriteString("  | " + strings.TrimRight(line, "\n") + "\n")
		}
	}
	return out.String()
}
