/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command mutants shows that unit tests find mistakes: of conversions, of what AddressBindings change in objects, and of which
// Pods of a SimpleDeployment come and go. Each file of the folder patches makes one, on purpose; the command applies them one
// after the other to a copy of the checkout, and expects tests to fail. A mistake that no test finds survives, and then a test is
// missing.
//
// A patch begins with what it breaks, the packages whose tests have to find out, and for a mistake of the generator the APIs
// whose conversions have to be generated again:
//
//	breaks: hooks are never called
//	tests: ./codegen/fixtures/widget/roundtrip
//	generate: codegen/fixtures/widget pkg/apis/samples
//
// Arguments are names of mutants, as in drop-hook-call; without any it takes all. The checkout itself is left alone.
package main
