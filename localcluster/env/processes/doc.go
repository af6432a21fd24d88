/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package processes runs the containers of Deployments as processes of this machine, against an API server that never
// runs a Pod. A container is run if its image is a Go import path in ko's form, ko://IMPORTPATH; what is executed is
// that package, built here.
//
// # What a process gets
//
//   - its arguments and environment as the container declares them: plain values, fieldRef, resourceFieldRef
//     (limits), configMapKeyRef, secretKeyRef and envFrom, with $(NAME) expanded. They are read again at every start, as for a new Pod;
//   - KUBECONFIG, a file with the token of the Pod's service account. The token is a real one (TokenRequest) and is
//     renewed in place, so that a process may do exactly what the roles of its account grant;
//   - a free local port for each containerPort. An environment variable whose value is the number of a containerPort
//     has the local port instead, so that the process knows it; so each containerPort needs such a variable;
//   - KO_DATA_PATH, the kodata folder of its package;
//   - PATH of this process, and its own HOME and TMPDIR, the latter for an emptyDir that is mounted at /tmp; nothing else is inherited,
//     so that neither the developer's kubeconfig nor a stray variable changes what the operator does.
//
// The UID of the Pod stays the same when a process is started again, as it does for a container; a process that receives
// SIGTERM is taken out of the endpoints, as a Pod is that is being deleted.
//
// Each Service that selects the Pod gets the annotation [EndpointsAnnotation], which leads the API server to the local
// ports. The status of the Deployment follows the processes, so that kubectl wait works for them.
//
// # What is ignored, and what is rejected
//
// What has no meaning for a local process is ignored: replicas beyond the first, security contexts, resources, affinity, tolerations, node
// selectors, priority, image pull settings, liveness and startup probes (a process that hangs is left for its developer
// to look at; one that ends is reported, not restarted), update strategy, and the variables that Kubernetes derives from
// Services. What has a meaning that cannot be given here is an error that names the field: init containers, commands and
// working directories (they name files of an image), other volume mounts and devices, lifecycle hooks,
// probes other than httpGet, ports other than TCP.
//
// The package neither starts the API server nor applies manifests, and it does not watch for changed Deployments.
package processes
