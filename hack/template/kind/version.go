/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kind

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/format"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/version"

	"github.com/mallard-dev/mallard/hack/template/command"
)

// skipMarker leaves a kind of one version out of the conversions.
const skipMarker = "//\n// +conversion:skip\n"

var (
	versionName = regexp.MustCompile(`^v[1-9]\d*((alpha|beta)[1-9]\d*)?$`)
	// chainMarkers place a version in the chain of conversions. The next hub keeps those that keptMarkers matches.
	chainMarkers = regexp.MustCompile(`(?m)^// \+conversion-gen:(hub|next|annotation|retired)\b.*\n`)
	listType     = regexp.MustCompile(`(?m)^type (\w+)List struct \{$`)
	keptMarkers  = regexp.MustCompile(`(?m)^// \+conversion-gen:(annotation|retired)=.*\n`)
)

// AddVersion adds a version of kinds to the operator whose sources are in root. The version becomes their hub: the CRDs store it, reconcilers and
// clients use it, and the webhook converts the others to it. The checkout must have no changes, and has none if the version cannot be added.
func AddVersion(ctx context.Context, root string, o Options, out io.Writer) error {
	if err := command.RequireClean(ctx, root); err != nil {
		return err
	}
	p, err := readProject(root)
	if err != nil {
		return err
	}
	files, err := p.git(ctx, "ls-files", "-z")
	if err != nil {
		return err
	}
	contents, err := p.addVersion(o, strings.Split(files, "\x00"))
	if err != nil {
		return err
	}
	err = p.change(ctx, contents, out)
	if err == nil {
		err = command.Run(ctx, root, out, out, "go", "mod", "tidy", "-e") // conversions import another module
	}
	if err != nil {
		ctx = context.WithoutCancel(ctx)
		_, reset := p.git(ctx, "reset", "--quiet", "--hard")
		_, clean := p.git(ctx, "clean", "--quiet", "--force", "-d")
		return errors.Join(err, reset, clean)
	}
	fmt.Fprintf(out, `
%[1]s has version %[2]s, which is stored and reconciled. Next:
  go test ./pkg/apis/%[3]s/... ./pkg/webhook
      tests the conversions
  make generate ARGS=kinds
      generates them again after a change of the types in %[4]s
`, o.Kind, o.Version, p.API, p.folder(o.Version))
	return nil
}

// addition is a version that is added.
type addition struct {
	*project

	version string
	// chain has the versions between which objects are converted, the oldest first. The added one is the last.
	chain []string
	// contents are those of the files that change.
	contents map[string]string
}

// addVersion returns the contents of the files that change, of which files are all.
func (p *project) addVersion(o Options, files []string) (map[string]string, error) {
	if !versionName.MatchString(o.Version) {
		return nil, fmt.Errorf("VERSION=%s: must be the name of a version, such as v1beta1 or v2", o.Version)
	}
	kinds, hubs, joining := strings.Split(o.Kind, ","), make(map[string]string), []string{o.Version}
	for _, kind := range kinds {
		hub, err := p.hubOf(kind)
		if err != nil {
			return nil, err
		}
		if p.exists(p.folder(o.Version) + strings.ToLower(kind) + "_types.go") {
			return nil, fmt.Errorf("VERSION=%s: %s has this version", o.Version, kind)
		}
		hubs[kind], joining = hub, append(joining, hub)
	}
	a := &addition{project: p, version: o.Version, chain: p.chainWith(joining, files), contents: make(map[string]string)}
	if newest := a.chain[len(a.chain)-1]; newest != o.Version {
		return nil, fmt.Errorf("VERSION=%s: must be more stable than %s, to which the webhook converts the other versions", o.Version, newest)
	}
	if err := errors.Join(a.checkOthers(o, files), a.link()); err != nil {
		return nil, err
	}
	knative, err := p.find("pkg/webhook/controllers.go", `"(\S+/conversion/knative)"`)
	if err != nil {
		return nil, err
	}
	for _, kind := range kinds {
		m := &model{project: p, Kind: kind, Hub: o.Version, Knative: knative}
		if err := errors.Join(a.refer(m, hubs[kind], files), a.move(m, hubs[kind], files), a.serve(m, hubs[kind])); err != nil {
			return nil, fmt.Errorf("KIND=%s: %w", kind, err)
		}
	}
	for file, content := range a.contents {
		if !strings.HasSuffix(file, ".go") || content == "" {
			continue
		}
		formatted, err := format.Source([]byte(content)) // other names have another order
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		a.contents[file] = string(formatted)
	}
	return a.contents, nil
}

// hubOf returns the version of a kind that is reconciled.
func (p *project) hubOf(kind string) (string, error) {
	if err := p.checkRegistered(kind); err != nil {
		return "", err
	}
	at := slices.IndexFunc(p.versions, func(v string) bool {
		return p.exists(p.folder(v)+strings.ToLower(kind)+"_lifecycle.go") && p.declares(v, kind)
	})
	if at < 0 {
		return "", fmt.Errorf("KIND=%s: no version of pkg/apis/%s declares this type and has a file %s_lifecycle.go", kind, p.API, strings.ToLower(kind))
	}
	return p.versions[at], nil
}

// chainWith returns the versions between which objects are converted, and those that join them.
func (p *project) chainWith(joining, files []string) []string {
	for _, file := range files {
		v, ok := strings.CutSuffix(strings.TrimPrefix(file, "pkg/apis/"+p.API+"/"), "/doc.go")
		if ok && p.hasConversions(v) {
			joining = append(joining, v)
		}
	}
	slices.SortFunc(joining, version.CompareKubeAwareVersionStrings)
	return slices.Compact(joining)
}

// checkOthers fails if kinds that are converted to the former hub would lack the new one, because all conversions of an API end at the same version.
func (a *addition) checkOthers(o Options, files []string) error {
	all := strings.Split(o.Kind, ",")
	for _, file := range files {
		folder, isTypes := strings.CutSuffix(file, "_types.go")
		former := path.Base(path.Dir(folder))
		if !isTypes || path.Dir(folder)+"/" != a.folder(former) || former == a.version || !a.hasConversions(former) {
			continue
		}
		source, err := a.read(file)
		if err != nil {
			return err
		}
		if kind := listType.FindStringSubmatch(source); kind != nil && !strings.Contains(source, skipMarker) && !slices.Contains(all, kind[1]) {
			all = append(all, kind[1])
		}
	}
	if others := all[strings.Count(o.Kind, ",")+1:]; len(others) > 0 && !a.hasConversions(a.version) {
		return fmt.Errorf("KIND=%s: %s would lack version %s, at which all conversions of the API end; add the version to each: KIND=%s",
			o.Kind, strings.Join(others, ", "), a.version, strings.Join(all, ","))
	}
	return nil
}

// link writes the markers that lead from each version to the next.
func (a *addition) link() error {
	kept := ""
	for i, v := range a.chain {
		file := a.folder(v) + "doc.go"
		source, err := a.read(file)
		if errors.Is(err, fs.ErrNotExist) {
			source, err = (&model{project: a.project, Version: v}).render("version/doc.go")
		}
		if err != nil {
			return err
		}
		kept += strings.Join(keptMarkers.FindAllString(source, -1), "")
		markers := "// +conversion-gen:hub\n" + cmp.Or(kept, "// +conversion-gen:annotation=conversion."+a.Group+"/properties\n")
		if i < len(a.chain)-1 {
			markers = "// +conversion-gen:next=" + a.importPath(a.chain[i+1]) + "\n"
		}
		a.contents[file] = strings.Replace(chainMarkers.ReplaceAllString(source, ""), "\npackage ", "\n"+markers+"package ", 1)
	}
	return nil
}
