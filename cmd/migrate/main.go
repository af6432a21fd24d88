/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The migrate program moves the stored objects of our kinds to their storage version, and exits. post-install/ contains its permissions and the Job;
// docs/how-to/migrate-stored-objects.md explains when to run it.
package main

import (
	"fmt"
	"log"

	"github.com/kelseyhightower/envconfig"

	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/signals"

	"github.com/mallard-dev/mallard/pkg/migration"
)

type settings struct {
	Resources    migration.Resources `envconfig:"RESOURCES" required:"true" desc:"CustomResourceDefinitions whose objects are migrated, such as widgets.example.com, separated by commas"`
	DropVersions migration.Versions  `envconfig:"DROP_VERSIONS" desc:"served versions that are about to be dropped, whose entries are removed from managedFields, such as widgets.example.com/v1alpha1, separated by commas"`
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("migrate: ")
	if err := migrate(); err != nil {
		log.Fatal(err)
	}
}

func migrate() error {
	var s settings
	if err := envconfig.Process("", &s); err != nil {
		return err //nolint:wrapcheck // it names the variable
	}
	ctx, config := signals.NewContext(), injection.ParseAndGetRESTConfigOrDie()
	defaults, err := logging.NewConfigFromMap(nil)
	if err != nil {
		return fmt.Errorf("configuring the log: %w", err)
	}
	logger, _ := logging.NewLoggerFromConfig(defaults, "migrate")
	migrator, err := migration.NewForConfig(config, logger)
	if err != nil {
		return err
	}
	return migrator.MigrateAll(ctx, s.Resources, s.DropVersions)
}
