/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The migrate program moves the stored objects of our kinds to their storage version, and exits. post-install/ contains its permissions and the Job;
// docs/how-to/migrate-stored-objects.md explains when to run it.
package main

import (
	"fmt"
	"os"

	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/signals"

	"github.com/mallard-dev/mallard/pkg/migration"
	"github.com/mallard-dev/mallard/runtime/process"
)

type settings struct {
	Resources    migration.Resources `envconfig:"RESOURCES" required:"true" desc:"CustomResourceDefinitions whose objects are migrated, such as widgets.example.com, separated by commas"`
	DropVersions migration.Versions  `envconfig:"DROP_VERSIONS" desc:"served versions that are about to be dropped, whose entries are removed from managedFields, such as widgets.example.com/v1alpha1, separated by commas"`
}

func main() {
	var s settings
	process.MustLoad("migrate", "moves stored objects to the storage version of their kind, and exits", &s)
	if err := migrate(s); err != nil {
		fmt.Fprintf(os.Stderr, "migrate: %v\n", err)
		os.Exit(1)
	}
}

func migrate(s settings) error {
	ctx, config := signals.NewContext(), injection.ParseAndGetRESTConfigOrDie()
	defaults, err := logging.NewConfigFromMap(nil)
	if err != nil {
		return fmt.Errorf("configuring the log: %w", err)
	}
	log, _ := logging.NewLoggerFromConfig(defaults, "migrate")
	migrator, err := migration.NewForConfig(config, log)
	if err != nil {
		return err
	}
	return migrator.MigrateAll(ctx, s.Resources, s.DropVersions)
}
