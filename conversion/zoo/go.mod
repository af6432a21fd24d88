module github.com/mallard-dev/mallard/conversion/zoo

go 1.26.0

toolchain go1.26.8

require (
	github.com/google/go-cmp v0.7.0
	sigs.k8s.io/yaml v1.6.0
)

require go.yaml.in/yaml/v2 v2.4.4 // indirect
