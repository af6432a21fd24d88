/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generate

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/version"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/args"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
)

// Adopt prepares APIs with hand-written conversions for generated ones. It writes the markers that follow from the types, copies the packages
// with the conversions, and writes a test that compares them with the generated ones. It prints what the generated ones replace.
func Adopt(a *args.Args, out io.Writer) (err error) {
	if err := a.Validate(); err != nil {
		return err
	}
	if a.RoundTripDir == "" {
		return errors.New("--round-trip-dir is empty: name the folder for the test that compares conversions")
	}
	header, err := a.Header()
	if err != nil {
		return err
	}
	apis, err := Load(a.InputDirs)
	if err != nil {
		return err
	}
	m := &move{kept: make(map[string]bool)}
	defer func() { err = errors.Join(err, m.clean()) }()
	var report strings.Builder
	for _, packages := range apis {
		if err := newAdoption(packages).write(m, header, a.RoundTripDir, &report); err != nil {
			return err
		}
	}
	if err := m.do(nil); err != nil {
		return err
	}
	if _, err := io.WriteString(out, report.String()); err != nil {
		return fmt.Errorf("printing what is unused: %w", err)
	}
	return nil
}

// adoption holds the versions of an API, the oldest first and the hub last, and the markers that follow from their types.
type adoption struct {
	versions []*model.Package
	// markers are lists of markers, by Type or Type.Field, or "" for those of the package.
	markers map[*model.Package]map[string][]string
}

func newAdoption(packages []*model.Package) *adoption {
	versions := slices.Clone(packages)
	slices.SortFunc(versions, func(a, b *model.Package) int {
		return cmp.Or(cmp.Compare(stored(a), stored(b)), version.CompareKubeAwareVersionStrings(a.Name, b.Name))
	})
	result := &adoption{versions: versions, markers: make(map[*model.Package]map[string][]string)}
	for i, older := range versions {
		result.markers[older] = make(map[string][]string)
		if i+1 < len(versions) {
			result.infer(older, versions[i+1])
		}
	}
	return result
}

// stored is 1 for the version that controller-runtime's conversions or the CRDs make the hub, and otherwise 0.
func stored(p *model.Package) int {
	isStored := func(t *model.Type) bool {
		return t.Has("Hub") || slices.ContainsFunc(t.Markers, func(m model.Marker) bool { return m.Name == "kubebuilder:storageversion" })
	}
	if slices.ContainsFunc(p.Types, isStored) {
		return 1
	}
	return 0
}

// groupMarker is the marker with the API group, which may be in any file.
var groupMarker = regexp.MustCompile(`(?m)^//\s*\+groupName=(\S+)`)

// packageMarkers adds those of doc.go.
func (a *adoption) packageMarkers(sources map[*model.Package]*sourcePackage) error {
	hub := a.versions[len(a.versions)-1]
	group := sources[hub].find(groupMarker)
	if group == "" {
		return fmt.Errorf("%s has no marker +groupName=GROUP, which the name of the annotation is made of: add it to doc.go", hub.Path)
	}
	for i, each := range a.versions {
		if slices.ContainsFunc(each.Markers, func(m model.Marker) bool { return m.Name == "conversion-gen:hub" || m.Name == "conversion-gen:next" }) {
			continue
		}
		a.markers[each][""] = []string{"conversion-gen:hub", "conversion-gen:annotation=conversion." + group + "/properties"}
		if i+1 < len(a.versions) {
			a.markers[each][""] = []string{"conversion-gen:next=" + a.versions[i+1].Path}
		}
	}
	return nil
}

func (a *adoption) write(m *move, header, roundTripDir string, report *strings.Builder) error {
	hub := a.versions[len(a.versions)-1]
	root := filepath.Dir(hub.Dir)
	folder := filepath.Join(root, formerDir)
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s exists: to adopt the API again, delete that folder", model.Relative(folder))
	}
	sources, err := readSources(a.versions)
	if err != nil {
		return err
	}
	former := newFormer(a.versions, sources, path.Join(path.Dir(hub.Path), formerDir))
	if len(former.pairs) == 0 {
		return fmt.Errorf("%s has no hand-written conversions: run assign-gen without adopt", path.Dir(hub.Path))
	}
	if err := a.packageMarkers(sources); err != nil {
		return err
	}
	for _, each := range former.copies(folder) {
		m.add(each.Path, each.Content)
	}
	test, err := former.test(header, path.Base(roundTripDir))
	if err != nil {
		return err
	}
	m.add(filepath.Join(root, roundTripDir, formerTest), test)
	for _, each := range a.versions {
		count, err := a.insert(m, each)
		if err != nil {
			return err
		}
		fmt.Fprintf(report, "%s: %d markers\n", model.Relative(each.Dir), count)
	}
	fmt.Fprintf(report, "%s: the former conversions, of %d kinds, for the test in %s\n",
		model.Relative(folder), former.kinds(), model.Relative(filepath.Join(root, roundTripDir, formerTest)))
	report.WriteString("the generated conversions replace:\n")
	for _, each := range a.versions {
		for _, line := range sources[each].unused() {
			report.WriteString("  " + line + "\n")
		}
	}
	return nil
}

// insert adds markers above what they are about.
func (a *adoption) insert(m *move, p *model.Package) (count int, err error) {
	type place struct {
		line    int
		markers []string
	}
	places := make(map[string][]place)
	for name, markers := range a.markers[p] {
		at := p.Positions[name]
		structure, _, isField := strings.Cut(name, ".")
		if isField && p.Positions[structure].Line == at.Line {
			continue // the struct is in one line
		}
		count += len(markers)
		if name == "" && filepath.Base(at.Filename) != "doc.go" {
			content := fmt.Sprintf("// Package %s is a version of the API.\n//\n// +%s\npackage %s\n", p.Name, strings.Join(markers, "\n// +"), p.Name)
			m.add(filepath.Join(p.Dir, "doc.go"), []byte(content))
			continue
		}
		places[at.Filename] = append(places[at.Filename], place{at.Line, markers})
	}
	for name, inFile := range places {
		content, err := os.ReadFile(name)
		if err != nil {
			return 0, err
		}
		slices.SortFunc(inFile, func(x, y place) int { return y.line - x.line })
		lines := strings.SplitAfter(string(content), "\n")
		for _, each := range inFile {
			target := lines[each.line-1]
			indent := target[:len(target)-len(strings.TrimLeft(target, "\t "))]
			var added []string
			if above := strings.TrimSpace(lines[max(each.line-2, 0)]); strings.HasPrefix(above, "//") && !strings.HasPrefix(above, "// +") {
				added = append(added, indent+"//\n")
			}
			for _, marker := range each.markers {
				added = append(added, indent+"// +"+marker+"\n")
			}
			lines = slices.Insert(lines, each.line-1, added...)
		}
		absolute, err := filepath.Abs(name)
		if err != nil {
			return 0, fmt.Errorf("finding %s: %w", name, err)
		}
		m.add(absolute, []byte(strings.Join(lines, "")))
	}
	return count, nil
}
