/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package hook runs programs when objects in the cluster change, on a schedule, or at the start. They answer with operations of package crud.
// A hook needs to know neither how to watch, nor how to write. It is a function, as in the example of Func, or an executable that Load finds,
// in any language, with the configuration, binding contexts and variables of shell-operator:
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
// The operations of a run are checked and executed after it, as one plan. A run that fails is repeated with back-off, and one whose objects have
// changed since the hook decided runs again from their new state. docs/reference/hooks.md has the order of runs, admission reviews, which need
// Constructors instead of NewController, the files and variables of executables, and the limits.
//
// A hook has the permissions of the process, in the cluster and on the machine. settings.namespaces bounds its operations, and not what it does
// by itself.
package hook
