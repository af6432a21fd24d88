/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The program behind `make release`: it builds the images of config/ and post-install/ for every platform of .ko.yaml,
// pushes them, and writes what users install into a folder:
//
//   - install.yaml: config/ with each image pinned by its digest, in the order in which it is applied;
//   - post-install.yaml: post-install/ likewise, which is run after some upgrades;
//   - kustomize.tar.gz: both folders likewise, the overlays of kustomize/ and the samples;
//   - images.txt: the images by digest;
//   - sbom/: an SPDX document for each image and platform, which is pushed beside the image too;
//   - checksums.txt: the SHA-256 of all these, as sha256sum reads it.
//
// The same sources, version, date, repository and Go version give the same bytes, wherever and whenever it runs: no
// path of the machine, no time but SOURCE_DATE_EPOCH, and a base image that is made here and holds nothing.
//
// It neither signs nor tags anything in git, and needs no network but the registry's.
package main
