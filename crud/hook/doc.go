/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package hook runs programs when objects in the cluster change, on a schedule, or at the start. They answer with operations of package crud.
// A hook needs to know neither how to watch, nor how to write: it is a function
//
//	h := hook.Func("labels", hook.Bindings{Kubernetes: []hook.Kubernetes{{Kind: "ConfigMap"}}}, func(ctx context.Context, run *hook.Run) error {
//		for _, c := range run.Contexts {
//			for _, o := range c.Objects {
//				run.Add(crud.MergePatch(crud.Ref{Kind: "ConfigMap", Namespace: o.Object.GetNamespace(), Name: o.Object.GetName()}, patch))
//			}
//		}
//		return nil
//	})
//
// or an executable that Load finds, in any language, with the configuration, binding contexts and variables of shell-operator:
//
//	#!/bin/bash
//	if [[ $1 == --config ]]; then
//	  echo '{configVersion: v1, kubernetes: [{kind: ConfigMap, executeHookOnSynchronization: false, executeHookOnEvent: [Added]}]}'
//	  exit
//	fi
//	source "$CRUD_SH"
//	crud::context '.[].object.metadata.name' | while read -r name; do
//	  crud::merge_patch --namespace default ConfigMap "$name" 'data: {color: green}'
//	done
//
// A process has hooks if the constructor that NewController returns is one of its controllers, and its main function begins with Main. The
// hooks run on the replica that leads.
//
// # Runs
//
//   - A hook receives all objects that exist first (Synchronization), and then each change that lasts. An event has the newest state of the
//     object: changes while the hook waits are one event. Snapshots are as the cache is when the run begins.
//   - Runs of a queue follow one another. Adjacent events of a hook are one run. A run that fails is repeated before others of its hook, with a
//     delay that grows, unless its binding allows failures. Another hook of the queue waits for one run at most between its own.
//   - The operations are checked and executed after the run, as one plan. If the hook fails, for an executable by its exit status, none
//     is executed but those with applyOnHookError.
//   - A conflict means that an object has changed since the hook decided. That is no failure: the hook runs again, as soon as the cache has
//     another version of the object. The object is found by the resourceVersion of the operation. Options.Conflicts conflicts in succession are
//     a failure, unless it is negative.
//   - If an object is being deleted, the rest of the plan waits for that, and with it the other runs of this hook in the queue, but not those
//     of other hooks. Nothing waits for a deletion that the hook itself has requested.
//   - A change that an operation of the hook made, or a deletion, does not run it, unless settings.runOnOwnWrites is true.
//   - What delays or undoes the operations of a hook is recorded as an Event about the object, see ReasonConflicts and the others.
//   - At SIGTERM, a run has Options.Grace to end, and no other begins. With package hardening the lease is kept until then, and a run ends at once if
//     the lease is lost.
//
// # Reviews
//
// A hook with a binding in Validating or Mutating answers admission reviews by its Response. A process serves them if its constructors and its context
// are those of Constructors, which also adds a hook that keeps the certificate and the webhooks in a Secret and in webhook configurations that
// exist. The runs of reviews differ from others:
//
//   - They take place on each replica, have no queue, and are not repeated. A few of a binding take place at a time.
//   - Operations are rejected, because a review has no side effects.
//   - Without a valid response in time there is no answer, so that the failure policy of the webhook decides.
//
// # Executables
//
// An executable runs in the folder that contains it. It receives the binding contexts, and answers, in files whose paths are in variables, see "Variables and
// functions" in docs/reference/hooks.md. That page also has the limits, and what is masked in the log.
//
// Processes that are left at the end of a run are killed, and those that a killed process of hooks left when the next one starts. At the timeout
// and at the end of the process, the group of the executable receives SIGTERM, then SIGKILL. A review that is too late receives SIGKILL at once.
//
// A hook has the permissions of the process, in the cluster and on the machine. settings.namespaces bounds its operations, and not what it does
// by itself.
package hook
