module github.com/mallard-dev/mallard

go 1.26.0
