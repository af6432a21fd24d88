/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package hardening makes a controller that is written against knative.dev/pkg robust, by one expression in its main:
//
//	func main() {
//		sharedmain.Main("controller", hardening.Constructors(service.NewController, route.NewController)...)
//		hardening.Exit()
//	}
//
// Constructors and reconcilers stay as they are, and without the expression the controller still works. The expression is evaluated before
// sharedmain begins. It uses four seams of knative.dev/pkg:
//
//   - injection.Default is an exported variable: SetupInformers of the injector that replaces it sees the rest.Config before a client exists, and
//     returns the context of everything that follows;
//   - a constructor is a function: the one that replaces it chooses the context, and sees the controller.Impl;
//   - the context of a constructor is an interface: it may answer with another tracker or another factory of duck informers;
//   - controller.Impl.Reconciler is an exported field of an interface type.
//
// Each concern is a constant. The environment variable HARDENING_OFF switches concerns off, for example HARDENING_OFF=tracker,tombstones. What cannot
// be contained: a panic in a goroutine that a reconciler starts, and faults of the Go runtime, such as a concurrent write of a map. A controller that
// is made after its constructor has returned needs [Constructor] where it is made. Package certificates is in addition for webhooks.
package hardening
