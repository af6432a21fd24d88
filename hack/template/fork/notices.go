/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"bytes"
	"regexp"
	"slices"
)

// notice is the line that begins the license header of a file, and license the one after it, each after the mark of a comment.
var (
	notice = regexp.MustCompile(`(?m)^(.*)\bCopyright (\d+) ` + oldHolder + `\.\n`)
	// generated matches the mark of generated files, whose header is the boilerplate.
	generated = regexp.MustCompile(`(?m)^(//|#) Code generated .* DO NOT EDIT\.$`)
	// template is that of the linter of headers.
	template = regexp.MustCompile(`(?m)^      template: \|-\n        Copyright (\d+) ` + oldHolder + `\.\n`)
	license  = []byte("SPDX-License-Identifier: " + oldLicense)
)

// The files in which the license header is a rule about new files.
const (
	boilerplate = "hack/boilerplate/boilerplate.go.txt"
	linters     = ".golangci.yaml"
	headers     = "test/repository/sources_test.go"
)

// addNotices adds the notice of the fork's authors to files that the fork has from the template. New files have that notice alone.
func (a Arguments) addNotices(files tree) {
	own := []byte("${1}Copyright $2 " + a.Authors + ".\n")
	for path, f := range files {
		switch {
		case path == boilerplate || generated.Match(f.content):
			f.content = notice.ReplaceAll(f.content, own)
			f.content = bytes.Replace(f.content, license, []byte("SPDX-License-Identifier: "+a.License), 1)
		case path == linters:
			f.content = bytes.Replace(f.content, license, []byte("SPDX-License-Identifier: {{ SPDX }}"), 1)
			f.content = template.ReplaceAll(f.content, []byte(`      values:
        regexp:
          KEPT: '(Copyright \d+ `+oldHolder+`\.\n)?'
          SPDX: '(`+oldLicense+`|`+regexp.QuoteMeta(a.License)+`)'
      template: |-
        {{ KEPT }}Copyright $1 `+a.Authors+".\n"))
		case path == headers:
			f.content = bytes.Replace(f.content, []byte(`"Copyright 2026 `+oldHolder), []byte(`"Copyright 2026 `+a.Authors), 1)
			f.content = bytes.Replace(f.content, append([]byte{'"'}, license...), []byte(`"SPDX-License-Identifier: `), 1)
			fallthrough
		default:
			if at := notice.FindSubmatchIndex(f.content); at != nil {
				f.content = slices.Insert(slices.Clone(f.content), at[1], notice.Expand(nil, own, f.content, at)...)
			}
		}
		files[path] = f
	}
}
