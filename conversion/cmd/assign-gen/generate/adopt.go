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
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
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

// infer finds fields and types with other names in the next version. The test with the former conversions shows whether they mean the same.
func (a *adoption) infer(older, newer *model.Package) {
	names := make(map[*model.Type][]string)
	seen := make(map[[2]*model.Type]bool)
	var compare func(from, to *model.Type)
	compare = func(from, to *model.Type) {
		isStruct := from.Kind == model.Named && to.Kind == model.Named && from.Base().Kind == model.Struct && to.Base().Kind == model.Struct
		if !isStruct || from.Package != older.Path || to.Package != newer.Path || seen[[2]*model.Type{from, to}] {
			return
		}
		seen[[2]*model.Type{from, to}] = true
		if !slices.Contains(names[from], to.Name) {
			names[from] = append(names[from], to.Name)
		}
		for _, field := range from.Base().Fields {
			counterpart, at := renamed(field, from, to)
			if counterpart == nil {
				continue
			}
			if at != field.Name {
				a.markers[older][from.Name+"."+field.Name] = []string{"conversion:rename=" + at}
			}
			compare(field.Type.Innermost(), counterpart.Type.Innermost())
		}
	}
	for _, each := range older.Types {
		if to := newer.Type(each.Name); to != nil && each.Base().Field("ObjectMeta") != nil {
			compare(each, to)
		}
	}
	for from, to := range names {
		if !slices.Equal(to, []string{from.Name}) {
			a.markers[older][from.Name] = []string{"conversion:name=" + strings.Join(to, ",")}
		}
	}
}

// renamed returns the field of the newer struct to which an older one corresponds, and its path: that of the same name in Go, otherwise in JSON,
// otherwise in a struct that is new, and otherwise one of the same type and a similar name.
func renamed(field *model.Field, older, newer *model.Type) (counterpart *model.Field, at string) {
	if same := newer.Base().Field(field.Name); same != nil {
		return same, field.Name
	}
	if field.Inline() || slices.ContainsFunc(field.Markers, isOurs) {
		return nil, ""
	}
	spelled := func(f *model.Field) string { return f.Type.Spelled(func(t *model.Type) string { return t.Name }) }
	var names []string
	for _, each := range newer.Base().Fields {
		isNew := older.Base().Field(each.Name) == nil
		inside := each.Type.Base()
		if inside.Kind == model.Pointer {
			inside = inside.Elem.Base()
		}
		switch {
		case !isNew:
		case each.JSON == field.JSON:
			return each, each.Name
		case inside.Kind == model.Struct && inside.Field(field.Name) != nil && inside.Field(field.Name).JSON == field.JSON:
			return inside.Field(field.Name), each.Name + "." + field.Name
		case spelled(each) == spelled(field):
			names = append(names, each.Name)
		}
	}
	similar := func(name string) bool {
		return strings.HasPrefix(name, field.Name) || strings.HasPrefix(field.Name, name)
	}
	if i := slices.IndexFunc(names, similar); i >= 0 {
		return newer.Base().Field(names[i]), names[i]
	}
	name, _ := problem.Nearest(field.Name, names)
	return newer.Base().Field(name), name
}

func isOurs(marker model.Marker) bool { return strings.HasPrefix(marker.Name, "conversion:") }

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
		if err := m.add(each.Path, each.Content); err != nil {
			return err
		}
	}
	test, err := former.test(header, path.Base(roundTripDir))
	if err != nil {
		return err
	}
	if err := m.add(filepath.Join(root, roundTripDir, formerTest), test); err != nil {
		return err
	}
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
			if err := m.add(filepath.Join(p.Dir, "doc.go"), []byte(content)); err != nil {
				return 0, err
			}
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
		if err := m.add(absolute, []byte(strings.Join(lines, ""))); err != nil {
			return 0, err
		}
	}
	return count, nil
}
