/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"regexp"
	"strings"
)

const readme = `# NAME: an operator

NAME is a Kubernetes operator on [knative.dev/pkg](https://pkg.go.dev/knative.dev/pkg). It reconciles the kinds KINDS of the group GROUP.
It was made from a template, [Mallard](https://OLD), whose [documents](https://OLD/tree/main/docs) describe the code.

You need Go, git and make.

` + "```sh" + `
make run WAIT=ready   # starts a control plane, the operator and the samples, and ends once all are Ready
make verify           # runs every check that needs no cluster
make test             # runs every test
make help             # lists all targets
` + "```" + `

| folder | has |
|---|---|
| ` + "`pkg/apis`" + ` | the types, their defaults and their validation |
| ` + "`pkg/reconciler`" + ` | a reconciler for each kind |
| ` + "`cmd`" + ` | the programs that images are built of |
| ` + "`config`" + ` | the manifests of the operator |
| ` + "`samples`" + ` | objects that ` + "`make run`" + ` creates |
| ` + "`runtime`, `observe`" + ` | the libraries that the programs are built on |
| ` + "`test`" + ` | suites that run the operator on a control plane |

[.template.yaml](.template.yaml) records the commit of the template. ` + "`make update-template FROM=https://OLD`" + ` merges later commits.
`

// readme describes a fork that lacks a part of the template, so that the template's own README would not be true.
func (a Arguments) readme() string {
	return strings.NewReplacer("NAME", a.Name, "KINDS", strings.Join(a.Kinds, ", "), "GROUP", a.Group, "OLD", oldModule).Replace(readme)
}

const pageAboutForks = "https://" + oldModule + "/blob/main/docs/how-to/fork.md"

var linkToPage = regexp.MustCompile(`\]\([./a-z-]*how-to/fork\.md|\]\(fork\.md`)

// linkToTemplate has links to the page about forks lead to the template, since a fork does not have the page.
func linkToTemplate(files tree) {
	for path, f := range files {
		if strings.HasSuffix(path, ".md") {
			f.content = linkToPage.ReplaceAll(f.content, []byte("]("+pageAboutForks))
			files[path] = f
		}
	}
}
