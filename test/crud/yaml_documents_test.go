/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import "strings"

// yamlScalars are texts that versions and readers of YAML understand differently.
var yamlScalars = strings.Split(`yes
Yes
YES
no
No
NO
on
On
ON
off
Off
OFF
y
Y
n
N
true
True
TRUE
tRue
false
False
FALSE
null
Null
NULL
~
nUll
''
""
"yes"
'no'
"1"
'0x10'
0
-0
+0
1
-1
+1
01
007
0777
08
09
0o17
0O17
-017
+017
0x1F
0X1F
-0xff
0b101
-0b11
0b12
0xZZ
1_000
1__0
_1
0_8
0x_1
1_000.5
190:20:30
1:30
-1:30
190:20:30.15
60:61
1.0
1.
.5
-.5
+.5
1e3
1E3
1e+3
1e-3
1.5e300
1e400
-1e400
0.1e-5
123456789012345678
9007199254740993
9223372036854775807
-9223372036854775808
9223372036854775808
-9223372036854775809
18446744073709551615
18446744073709551616
12345678901234567890123
0x7fffffffffffffff
0x8000000000000000
.inf
-.inf
+.Inf
.INF
.nan
.NaN
inf
nan
Infinity
2001-01-01
2001-12-14t21:59:43.10-05:00
2001-12-14 21:59:43.10 -5
2001-1-1
12:30:45
=
<<
<
-
- x
?x
:x
x:y
x: y
@x
%x
!x
!!str yes
!!str 1
!!str
!!int "5"
!!int five
!!int yes
!!float 5
!!float "1.5"
!!float x
!!bool yes
!!bool "off"
!!bool 1
!!null ""
!!null x
!!binary aGVsbG8=
!!binary "***"
!!timestamp 2001-01-01
!!timestamp x
!local x
!<tag:yaml.org,2002:int> "7"
!!map {a: b}
!!seq [a, b]
!!set {a, b}
!!omap [a: 1, b: 2]
[a, 1, yes]
[]
{}
[[], {}]
{a}
{a: , b}
[a, , b]
{yes: no, 1: 2, 1.5: 3, ~: 4}
{"a": 1, 'b': 2}
{a: &x 1, b: *x}
*missing
&x
"\x41\u00e9\U0001F986\n\t\0\e"
"\q"
'it''s'
"unterminated
a b  c
a # comment
a#b
"a#b"
\n
C:\dir
e1
1e
1x
0x
0b
0o
-x
+x
.x
..
...
---x
tru
falsey
nullx
none
yess
ü
🦆
a,b
[x
x]
{x
x}
|x
>x
&
*
!
!!
%
@
`+"`x`", "\n")

// yamlKeys are texts of keys.
var yamlKeys = []string{
	"yes", "NO", "on", "y", "n", "true", "null", "~", "1", "01", "0x10", "0o7", "1.5", "1e3", ".5", "1_000", "190:20:30", "2001-01-01", `"yes"`, "'1'", "a b",
	"? a\n  ", "? |\n    x\n  ", "? [a]\n  ", "? {a: b}\n  ", "&k x", "!!str 1", "!!int \"5\"", "<<", "=", "-1", "+1", ".inf", ".nan", "''", "9223372036854775808",
	"18446744073709551616", "ü", "a.b/c", "@x", "!x y",
}

// yamlManifests are whole files. NAME is replaced by a name of the file.
var yamlManifests = []string{
	"\ufeff" + yamlObject(""),
	"# comment\n\n---\n" + yamlObject(""),
	"---\n---\n" + yamlObject("") + "---\n",
	"--- # comment\n" + yamlObject(""),
	"%YAML 1.1\n---\n" + yamlObject(""),
	"%YAML 1.2\n---\n" + yamlObject(""),
	"%TAG ! tag:example.com,2000:\n---\n" + yamlObject(""),
	yamlObject("") + "...\n",
	yamlObject("") + "...\n# more\n",
	yamlObject("-a") + "---\n" + yamlObject("-b"),
	yamlObject("-a") + "--- # comment\n" + yamlObject("-b"),
	yamlObject("-a") + "...\n---\n" + yamlObject("-b"),
	"--- {apiVersion: v1, kind: ConfigMap, metadata: {name: NAME}}",
	"{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME}}",
	"{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"NAME\"}}",
	"  {\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"NAME\"}}  \n",
	"{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"NAME-a\"}}\n{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"NAME-b\"}}",
	"{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"NAME\"}, }",
	"{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"NAME\"}, \"data\": {\"a\": \"b\n c\"}}",
	"[{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME}}]",
	"- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: NAME}\n",
	"apiVersion:\tv1\nkind: ConfigMap\nmetadata: {name: NAME}\n",
	"apiVersion: v1\nkind: ConfigMap\nmetadata:\n\tname: NAME\n",
	"apiVersion: v1\nkind: ConfigMap\nmetadata: {\tname: NAME}\n",
	"apiVersion: v1\r\nkind: ConfigMap\r\nmetadata: {name: NAME}\r\ndata: {a: b}\r\n",
	"\ufeffapiVersion: v1\r\nkind: ConfigMap\r\nmetadata: {name: NAME}\r\ndata:\r\n  a: |\r\n    x\r\n    y\r\n",
	yamlObject("") + "immutable: yes\n",
	yamlObject("") + "immutable: on\n",
	"apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: NAME}\nautomountServiceAccountToken: no\n",
	yamlObject("") + "data: {a: b}\ndata: {c: d}\n",
	yamlObject("") + "data: {a: b, a: c}\n",
	yamlObject("") + "data:\n  a: b\n  'a': c\n",
	yamlObject("") + "data: {1: a, '1': b}\n",
	yamlObject("") + "data: {0x1: a, 1: b}\n",
	yamlObject("") + "data: {yes: a, \"true\": b}\n",
	yamlObject("") + "data: {on: a, yes: b}\n",
	yamlObject("") + "x: &x {a: 1, b: 2}\ndata: {<<: *x, b: 3}\n",
	yamlObject("") + "x: &x {a: 1, b: 2}\ndata: {b: 3, <<: *x}\n",
	yamlObject("") + "x: &x {a: 1}\nz: &z {a: 2, c: 3}\ndata: {<<: [*x, *z]}\n",
	yamlObject("") + "x: &x {a: 1}\nz: &z {<<: *x, c: 3}\ndata: {<<: *z}\n",
	yamlObject("") + "data: {<<: {a: 1}}\n",
	yamlObject("") + "data: {<<: 1}\n",
	yamlObject("") + "data: {<<: [1]}\n",
	yamlObject("") + "data: {'<<': {a: 1}}\n",
	yamlObject("") + "x: &x [1, 2]\ndata: *x\n",
	yamlObject("") + "x: &x yes\ndata: {a: *x}\n",
	yamlObject("") + "x: &x key\ndata: {*x : 1}\n",
	yamlObject("") + "data: &a {b: *a}\n",
	yamlObject("") + "data:\n  a: |\n    x\n      y\n\n  b: |-\n    x\n  c: |+\n    x\n\n  d: >\n    x\n    y\n\n    z\n  e: >-\n    x\n",
	yamlObject("") + "data:\n  a: |2\n      x\n  b: plain\n    over lines\n  c: \"quoted\n    over lines\"\n  d: 'quoted\n\n    over lines'\n",
	yamlObject("") + "data:\n  a: yes\n    no\n  b: 1\n    2\n",
	yamlObject("") + "data:\n  a:\n  - 1\n  -   2\n  - - 3\n    - 4\n  - b: 5\n    c: 6\n",
	yamlObject("") + "data:\n  a: 1\n   b: 2\n",
	yamlObject("") + "data:\n  a: 1\n b: 2\n",
	yamlObject("") + "data:\n? a\n: b\n",
	yamlObject("") + "data:\n",
	yamlObject("") + "data: |\n",
	"", "# nothing\n", "---\n", "null\n", "~\n", "text\n", "1\n", "yes\n",
	"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\ndata: {a: b}\n\x00",
	yamlList("List", yamlItem("-a"), yamlItem("-b")),
	yamlList("List", yamlItem("-a"), yamlList("List", yamlItem("-b"))),
	yamlList("List"),
	"apiVersion: v1\nkind: List\n",
	"apiVersion: v1\nkind: List\nitems: null\n",
	"apiVersion: v1\nkind: List\nitems: {a: b}\n",
	yamlList("ConfigMapList", yamlItem("-a"), "{metadata: {name: NAME-b}, data: {a: yes}}"),
	yamlList("List", "1"),
	yamlList("List", "{metadata: {name: NAME}}"),
	yamlList("List", "{apiVersion: v1, kind: Namespace, metadata: {name: NAME-a}}", yamlItem("-b")),
	"kind: List\napiVersion: v1\nmetadata: {resourceVersion: ''}\nitems:\n- " + yamlItem(""),
	yamlObject("") + "items: [" + yamlItem("-b") + "]\n",
}

func yamlObject(suffix string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME" + suffix + "}\n"
}

func yamlItem(suffix string) string {
	return "{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME" + suffix + "}}"
}

func yamlList(kind string, items ...string) string {
	return "{apiVersion: v1, kind: " + kind + ", items: [" + strings.Join(items, ", ") + "]}"
}
