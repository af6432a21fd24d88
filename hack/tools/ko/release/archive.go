/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"time"
)

// archive is a compressed tar file of the manifests below a folder. It says nothing of who made it and when.
func archive(manifests []manifest, folder string, date time.Time) ([]byte, error) {
	var out bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("making an archive: %w", err)
	}
	files := tar.NewWriter(compressed)
	for _, m := range manifests {
		header := &tar.Header{
			Name: folder + "/" + m.path, Size: int64(len(m.content)), Mode: 0o644, ModTime: date, Format: tar.FormatUSTAR, Typeflag: tar.TypeReg,
		}
		if err := files.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("putting %s into the archive: %w", m.path, err)
		}
		if _, err := files.Write(m.content); err != nil {
			return nil, fmt.Errorf("putting %s into the archive: %w", m.path, err)
		}
	}
	if err := files.Close(); err != nil {
		return nil, fmt.Errorf("closing the archive: %w", err)
	}
	if err := compressed.Close(); err != nil {
		return nil, fmt.Errorf("compressing the archive: %w", err)
	}
	return out.Bytes(), nil
}

// checksums lists the SHA-256 of every file below a folder, as sha256sum --check reads it.
func checksums(dir string) ([]byte, error) {
	var out bytes.Buffer
	files, err := readTree(os.DirFS(dir), ".")
	if err != nil {
		return nil, fmt.Errorf("computing the checksums of %s: %w", dir, err)
	}
	for _, file := range files {
		sum := sha256.Sum256(file.content)
		fmt.Fprintf(&out, "%s  %s\n", hex.EncodeToString(sum[:]), file.path)
	}
	return out.Bytes(), nil
}
