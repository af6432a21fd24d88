/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The migrate program moves the stored objects of our kinds to their storage version, and exits. post-install/ contains its permissions and the Job;
// docs/how-to/migrate-stored-objects.md explains when to run it.
package main

import (
	"log"
	"os"
	"strings"

	"github.com/kelseyhightower/envconfig"

	"knative.dev/pkg/injection"
	"knative.dev/pkg/signals"

	"github.com/mallard-dev/mallard/pkg/migration"
)

type settings struct {
	Resources []string `envconfig:"RESOURCES" required:"true" desc:"CustomResourceDefinitions whose objects are migrated, such as widgets.example.com, separated by commas"`
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("migrate: ")
	var s settings
	if err := envconfig.Process("", &s); err != nil {
		log.Fatal(err)
	}
	if len(s.Resources) == 0 {
		log.Fatal("environment variable RESOURCES: must name CustomResourceDefinitions")
	}
	ctx, migrator := signals.NewContext(), migration.NewForConfig(injection.ParseAndGetRESTConfigOrDie())
	code := 0
	for _, resource := range s.Resources {
		if resource = strings.TrimSpace(resource); resource == "" {
			continue // after the last comma
		}
		written, err := migrator.Migrate(ctx, resource)
		if err != nil {
			log.Printf("%s: %d objects were written: %v", resource, written, err)
			code = 1
			continue
		}
		log.Printf("%s: %d objects were written, all are stored at the storage version", resource, written)
	}
	os.Exit(code)
}
