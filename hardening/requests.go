/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"encoding/json"
	"strings"

	"go.uber.org/zap"
	"go.uber.org/zap/buffer"
	"go.uber.org/zap/zapcore"

	"knative.dev/pkg/injection/sharedmain"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/webhook"
)

// quietEncoding is the name of zap's JSON encoder without the lines of requests.
const quietEncoding = "json-without-requests"

// routine are the beginnings of the lines that package webhook writes for each request. The first one has all headers, and the last one, at level debug,
// has values, such as those of a Secret that is patched.
var routine = []string{"Webhook ServeHTTP request=", "remote admission controller audit annotations=", "Kind: ", "AdmissionReview patch="}

// handshake is the beginning of a line about a client that ends a connection or does not trust the certificate, which no one can fix in this process.
const handshake = "http: TLS handshake error"

// quiet is an encoder that writes nothing for a routine line, and a line about a handshake as no error.
type quiet struct{ zapcore.Encoder }

// Clone implements zapcore.Encoder.
func (q quiet) Clone() zapcore.Encoder { return quiet{q.Encoder.Clone()} }

// EncodeEntry implements zapcore.Encoder.
func (q quiet) EncodeEntry(entry zapcore.Entry, fields []zapcore.Field) (*buffer.Buffer, error) {
	if entry.Level <= zapcore.InfoLevel {
		for _, beginning := range routine {
			if strings.HasPrefix(entry.Message, beginning) {
				return buffers.Get(), nil
			}
		}
	}
	if strings.HasPrefix(entry.Message, handshake) {
		entry.Level, entry.Stack = zapcore.WarnLevel, ""
	}
	return q.Encoder.EncodeEntry(entry, fields) //nolint:wrapcheck // it is the result
}

var buffers = buffer.NewPool()

// withQuietRequests makes the logger of a process with webhooks use the encoder. The level remains that of the ConfigMap. Sharedmain reports a configuration
// that cannot be read or used.
func withQuietRequests(ctx context.Context) context.Context {
	if webhook.GetOptions(ctx) == nil {
		return ctx
	}
	cfg, err := sharedmain.GetLoggingConfig(ctx)
	if err != nil {
		return ctx
	}
	// Package logging has this default, and others for what is left out.
	zapConfig := map[string]any{"encoding": "json"}
	if cfg.LoggingConfig != "" && json.Unmarshal([]byte(cfg.LoggingConfig), &zapConfig) != nil || zapConfig["encoding"] != "json" {
		return ctx
	}
	zapConfig["encoding"] = quietEncoding
	changed, err := json.Marshal(zapConfig)
	if err != nil {
		return ctx
	}
	// It fails if there is such an encoder already.
	_ = zap.RegisterEncoder(quietEncoding, func(c zapcore.EncoderConfig) (zapcore.Encoder, error) {
		return quiet{zapcore.NewJSONEncoder(c)}, nil
	})
	copied := *cfg
	copied.LoggingConfig = string(changed)
	return logging.WithConfig(ctx, &copied)
}
