# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Functions for hooks in bash. They write nothing but calls of the program that runs the hook, which makes the JSON: values need no quoting
# other than that of the shell, and no other program is needed.
#
#   source "$CRUD_SH"
#
#   crud::create_or_update [FLAG ...] [OBJECT]
#   crud::create [FLAG ...] [OBJECT]
#   crud::create_if_not_exists [FLAG ...] [OBJECT]
#   crud::ensure_deleted [FLAG ...] KIND NAME
#   crud::ensure_deleted_in_background [FLAG ...] KIND NAME
#   crud::ensure_deleted_orphaning [FLAG ...] KIND NAME
#   crud::jq_patch [FLAG ...] KIND NAME [PROGRAM]
#   crud::json_patch [FLAG ...] KIND NAME [PATCH]
#   crud::merge_patch [FLAG ...] KIND NAME [PATCH]
#   crud::context [--json] [--arg NAME=VALUE ...] FILTER
#   crud::objects
#
# OBJECT and PATCH are JSON or YAML, and are read from standard input if they are left out. With --arg NAME=VALUE, which may be repeated, they
# are jq programs that return exactly one, in which $NAME is the value:
#
#   crud::create_or_update --arg name="$name" --arg text="$text" \
#     '{apiVersion: "v1", kind: "ConfigMap", metadata: {namespace: "default", name: $name}, data: {text: $text}}'
#
# The flags are those of operation files: --namespace (-n), --api-version, --status, --ignore-missing, --ignore-missing-paths,
# --strategy, --on-immutable, --owned-by, --wait, --uid, --resource-version and --apply-on-hook-error.
#
# crud::context prints the results of a jq filter of the binding contexts, strings without quotes unless --json is set. A function fails, and
# adds no operation, if it is called wrongly.
# crud::objects prints the objects of the binding contexts that exist, each as one line of JSON. jq is the program jq.

crud::create_or_update() { "$CRUD_PROGRAM" hook-operation CreateOrUpdate "$@"; }
crud::create() { "$CRUD_PROGRAM" hook-operation Create "$@"; }
crud::create_if_not_exists() { "$CRUD_PROGRAM" hook-operation CreateIfNotExists "$@"; }
crud::ensure_deleted() { "$CRUD_PROGRAM" hook-operation EnsureDeleted "$@"; }
crud::ensure_deleted_in_background() { "$CRUD_PROGRAM" hook-operation EnsureDeletedInBackground "$@"; }
crud::ensure_deleted_orphaning() { "$CRUD_PROGRAM" hook-operation EnsureDeletedOrphaning "$@"; }
crud::jq_patch() { "$CRUD_PROGRAM" hook-operation JQPatch "$@"; }
crud::json_patch() { "$CRUD_PROGRAM" hook-operation JSONPatch "$@"; }
crud::merge_patch() { "$CRUD_PROGRAM" hook-operation MergePatch "$@"; }
crud::context() { "$CRUD_PROGRAM" hook-context "$@"; }
crud::objects() {
  crud::context --json '.[] | if .type == "Synchronization" then .objects[].object elif .watchEvent != "Deleted" then .object else empty end | values'
}

# Where the program jq is missing, $CRUD_PROGRAM is one.
if ! type jq >/dev/null 2>&1; then
  jq() { "$CRUD_PROGRAM" hook-jq "$@"; }
fi
