#!/usr/bin/env bash
# Copyright 2026 The Mallard Authors.
# SPDX-License-Identifier: Apache-2.0

# Builds the website of the repository from its Markdown files with Hugo, into out/website; `hack/website.sh server` serves it instead. Further
# arguments are those of Hugo. REPOSITORY is the web address of the repository; the default is that of the Go module.

set -euo pipefail

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
export GOWORK=off CGO_ENABLED=0

mkdir -p .cache/website
cp website/package.json website/package-lock.json .cache/website
npm ci --prefix .cache/website --ignore-scripts --no-audit --no-fund --loglevel error >/dev/null
HUGO_PARAMS_FILES="${REPOSITORY:-https://$(go list -m)}/blob/$(git rev-parse HEAD)"
export HUGO_PARAMS_FILES
go -C website tool hugo "${1:-build}" --source .. --config website/theme/hugo.yaml --noBuildLock --panicOnWarning \
  --destination out/website --cleanDestinationDir "${@:2}"
