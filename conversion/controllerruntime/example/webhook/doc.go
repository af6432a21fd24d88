/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package webhook serves the webhooks of Gizmos with controller-runtime: conversion, defaults and validation at every version.
package webhook
