/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package image

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/mallard-dev/mallard/localcluster/internal/registry"
)

// maxUnpacked bounds the files of one image, in bytes.
const maxUnpacked = 4 << 30

// ErrInvalidName reports that a name cannot be that of an image.
var ErrInvalidName = errors.New("invalid image name")

// Image is an image whose files are in a folder.
type Image struct {
	// ID names the image and its digest: "127.0.0.1:5000/controller@sha256:...".
	ID string
	// Root is the folder with its files, which must not be changed.
	Root string
	// Size of its layers, in bytes.
	Size int64
	// Config defines the command, the user and the working directory.
	Config v1.Config
}

// Store is the images of one machine. Its methods may be called from several goroutines.
type Store struct {
	dir, host string
	owners    bool

	mu      sync.Mutex
	byName  map[string]*Image
	pulling map[string]*sync.Mutex
}

// New makes a store in a folder for the images of the registry at an address. With owners, files belong to whom the image
// says, which takes root.
func New(dir, host string, owners bool) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of images: %w", err)
	}
	// The files of an interrupted unpacking are incomplete.
	left, err := filepath.Glob(filepath.Join(dir, ".unpacking-*"))
	if err != nil {
		return nil, fmt.Errorf("looking for unfinished images: %w", err)
	}
	for _, path := range left {
		if err := os.RemoveAll(path); err != nil {
			return nil, fmt.Errorf("removing an unfinished image: %w", err)
		}
	}
	return &Store{dir: dir, host: host, owners: owners, byName: map[string]*Image{}, pulling: map[string]*sync.Mutex{}}, nil
}

// Local reports whether a name refers to the local registry.
func (s *Store) Local(image string) bool { return registry.Serves(s.host, image) }

// Present returns an image that was pulled under a name before.
func (s *Store) Present(image string) (*Image, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.byName[image]
	return found, ok
}

// Pull fetches an image, unless its files exist under the digest that its name stands for now. The error is
// ErrInvalidName, or says what went wrong in the words of a cluster's runtime.
func (s *Store) Pull(ctx context.Context, image string) (*Image, error) {
	if !s.Local(image) {
		return nil, fmt.Errorf("%s is not from the local registry %s, and nothing else is executed on this Node", image, s.host)
	}
	reference, err := name.ParseReference(image)
	if err != nil {
		return nil, fmt.Errorf("%w: couldn't parse image name %q: %w", ErrInvalidName, image, err)
	}
	found, err := remote.Image(reference, remote.WithContext(ctx),
		remote.WithPlatform(v1.Platform{OS: "linux", Architecture: runtime.GOARCH}))
	if err != nil {
		return nil, explain(image, err)
	}
	digest, err := found.Digest()
	if err != nil {
		return nil, explain(image, err)
	}
	unlock := s.lock(digest.String())
	defer unlock()
	dir := filepath.Join(s.dir, strings.ReplaceAll(digest.String(), ":", "-"))
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		if err := s.unpack(found, dir); err != nil {
			return nil, fmt.Errorf("failed to pull and unpack image %q: failed to extract layers: %w", image, err)
		}
	} else if err != nil {
		return nil, fmt.Errorf("looking for the files of image %q: %w", image, err)
	}
	pulled, err := load(dir)
	if err != nil {
		return nil, err
	}
	pulled.ID = reference.Context().Name() + "@" + digest.String()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byName[image] = pulled
	return pulled, nil
}

// lock lets one of several Pods with the same image unpack it, and the others wait.
func (s *Store) lock(digest string) (unlock func()) {
	s.mu.Lock()
	one, ok := s.pulling[digest]
	if !ok {
		one = &sync.Mutex{}
		s.pulling[digest] = one
	}
	s.mu.Unlock()
	one.Lock()
	return one.Unlock
}

// about holds the metadata of an image.
type about struct {
	Size   int64     `json:"size"`
	Config v1.Config `json:"config"`
}

const (
	aboutName = "about.json"
	rootName  = "root"
)

// unpack makes an image's folder, whole or not at all.
func (s *Store) unpack(image v1.Image, dir string) (err error) {
	temp, err := os.MkdirTemp(s.dir, ".unpacking-")
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(temp))
		}
	}()
	config, err := image.ConfigFile()
	if err != nil {
		return fmt.Errorf("reading its configuration: %w", err)
	}
	layers, err := image.Layers()
	if err != nil {
		return fmt.Errorf("reading its layers: %w", err)
	}
	kept := about{Config: config.Config}
	for _, layer := range layers {
		size, err := layer.Size()
		if err != nil {
			return fmt.Errorf("reading a layer's size: %w", err)
		}
		kept.Size += size
	}
	root := filepath.Join(temp, rootName)
	if err := os.Mkdir(root, 0o755); err != nil {
		return fmt.Errorf("making its root: %w", err)
	}
	files := mutate.Extract(image)
	defer func() { _ = files.Close() }()
	if err := untar(files, root, s.owners, maxUnpacked); err != nil {
		return err
	}
	data, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("encoding its configuration: %w", err)
	}
	if err := os.WriteFile(filepath.Join(temp, aboutName), data, 0o600); err != nil {
		return fmt.Errorf("writing its configuration: %w", err)
	}
	if err := os.Rename(temp, dir); err != nil {
		return fmt.Errorf("moving it to its place: %w", err)
	}
	return nil
}

func load(dir string) (*Image, error) {
	data, err := os.ReadFile(filepath.Join(dir, aboutName))
	if err != nil {
		return nil, fmt.Errorf("reading an unpacked image: %w", err)
	}
	var kept about
	if err := json.Unmarshal(data, &kept); err != nil {
		return nil, fmt.Errorf("reading %s: %w", filepath.Join(dir, aboutName), err)
	}
	return &Image{Root: filepath.Join(dir, rootName), Size: kept.Size, Config: kept.Config}, nil
}

// explain describes the failure of a pull as a cluster's runtime would.
func explain(image string, err error) error {
	var rejected *transport.Error
	if errors.As(err, &rejected) && rejected.StatusCode == http.StatusNotFound {
		return fmt.Errorf("failed to pull and unpack image %q: failed to resolve reference %q: %s: not found", image, image, image)
	}
	return fmt.Errorf("failed to pull and unpack image %q: failed to resolve reference %q: %w", image, image, err)
}
