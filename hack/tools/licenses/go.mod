module github.com/mallard-dev/mallard/hack/tools/licenses

go 1.26.0

toolchain go1.26.8

require (
	github.com/google/go-licenses/v2 v2.0.1
	golang.org/x/mod v0.38.0
	k8s.io/klog/v2 v2.90.1
)

require (
	github.com/davecgh/go-spew v1.1.1 // indirect
	github.com/go-logr/logr v1.2.0 // indirect
	github.com/golang/groupcache v0.0.0-20210331224755-41bb18bfe9da // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/google/licenseclassifier/v2 v2.0.0 // indirect
	github.com/sergi/go-diff v1.2.0 // indirect
	go.opencensus.io v0.24.0 // indirect
	golang.org/x/net v0.56.0 // indirect
	golang.org/x/sync v0.21.0 // indirect
	golang.org/x/tools v0.47.0 // indirect
)
