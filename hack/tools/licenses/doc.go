/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The program behind the part of `make generate` that writes third_party/: the licence and notice of everything that is linked
// into the operator's binaries, and a list of them. The images carry it as their data, as most licences ask for.
//
// It finds and recognises them by go-licenses, for every platform that images are built for, and fails on a licence that it does
// not know or that asks for more than to be passed on. It needs no network once the modules are downloaded, and writes the same
// each time. It is a module of its own because of what the recognition of licences brings along.
package main
