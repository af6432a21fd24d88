/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/tsdb"
)

// store is a data base of Prometheus with what was scraped.
type store struct {
	db  *tsdb.DB
	dir string
	// names are the metrics that there are, last the time of the last scrape.
	names map[string]bool
	last  time.Time
}

// scrape is one file.
type scrape struct {
	path, job, instance string
	at                  int64
}

// load puts every scrape of a folder into a data base, labelled as Prometheus does.
func load(dir string) (_ *store, err error) {
	scrapes, err := scrapesIn(dir)
	if err != nil {
		return nil, err
	}
	temporary, err := os.MkdirTemp("", "promcheck-")
	if err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	db, err := tsdb.Open(temporary, nil, nil, tsdb.DefaultOptions(), nil)
	if err != nil {
		return nil, fmt.Errorf("opening a data base: %w", err)
	}
	s := &store{db: db, dir: temporary, names: map[string]bool{}}
	for _, one := range scrapes {
		if err := s.add(one); err != nil {
			return nil, errors.Join(fmt.Errorf("reading scrape %s: %w", one.path, err), s.close())
		}
		s.last = time.UnixMilli(one.at)
	}
	return s, nil
}

func scrapesIn(dir string) ([]scrape, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.prom"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("folder %s has no scrapes named JOB_INSTANCE_MILLISECONDS.prom (%w)", dir, err)
	}
	var scrapes []scrape
	for _, file := range files {
		parts := strings.Split(strings.TrimSuffix(filepath.Base(file), ".prom"), "_")
		at, err := strconv.ParseInt(parts[len(parts)-1], 10, 64)
		if err != nil || len(parts) != 3 {
			return nil, fmt.Errorf("scrape %s must be named JOB_INSTANCE_MILLISECONDS.prom", file)
		}
		scrapes = append(scrapes, scrape{path: file, job: parts[0], instance: parts[1], at: at})
	}
	slices.SortFunc(scrapes, func(a, b scrape) int { return cmp.Compare(a.at, b.at) })
	return scrapes, nil
}

func (s *store) add(one scrape) error {
	content, err := os.ReadFile(one.path)
	if err != nil {
		return err
	}
	appender := s.db.Appender(context.Background())
	put := func(series labels.Labels, value float64) error {
		series = labels.NewBuilder(series).Set("job", one.job).Set("instance", one.instance).Labels()
		s.names[series.Get(model.MetricNameLabel)] = true
		_, err := appender.Append(0, series, one.at, value)
		return err //nolint:wrapcheck // load says which scrape it was
	}
	// Prometheus adds this one itself.
	if err := put(labels.FromStrings(model.MetricNameLabel, "up"), 1); err != nil {
		return err
	}
	parser := textparse.NewPromParser(content, labels.NewSymbolTable(), false)
	for {
		entry, err := parser.Next()
		if errors.Is(err, io.EOF) {
			return appender.Commit() //nolint:wrapcheck // load says which scrape it was
		}
		if err != nil {
			return err //nolint:wrapcheck // load says which scrape it was
		}
		if entry != textparse.EntrySeries {
			continue
		}
		var series labels.Labels
		_, _, value := parser.Series()
		parser.Labels(&series)
		if err := put(series, value); err != nil {
			return err
		}
	}
}

func (s *store) close() error {
	return errors.Join(s.db.Close(), os.RemoveAll(s.dir))
}

// check runs queries at the time of the last scrape, and says of each how much it found.
func (s *store) check(ctx context.Context, out io.Writer, queries []query, wantAny bool) error {
	ask := rules.EngineQueryFunc(newEngine(), s.db)
	var problems []error
	for _, q := range queries {
		n, err := s.ask(ctx, ask, q)
		switch {
		case err != nil:
		case wantAny && n == 0:
			err = errors.New("it finds nothing")
		case !wantAny && n > 0:
			err = fmt.Errorf("it finds trouble in %d series though all is well", n)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w: %s", q.where, err, q.text))
			continue
		}
		fmt.Fprintf(out, "%s: %d series\n", q.where, n)
	}
	return errors.Join(problems...)
}

func (s *store) ask(ctx context.Context, ask rules.QueryFunc, q query) (int, error) {
	expr, err := newParser().ParseExpr(q.text)
	if err != nil {
		return 0, fmt.Errorf("it does not parse: %w", err)
	}
	for _, name := range metricsOf(expr) {
		if !s.names[name] {
			return 0, fmt.Errorf("nobody exports %s", name)
		}
	}
	found, err := ask(ctx, q.text, s.last)
	if err != nil {
		return 0, fmt.Errorf("running it: %w", err)
	}
	return len(found), nil
}

func newEngine() *promql.Engine {
	return promql.NewEngine(promql.EngineOpts{
		MaxSamples: 1_000_000, Timeout: time.Minute, EnableAtModifier: true, EnableNegativeOffset: true, Parser: newParser(),
	})
}
