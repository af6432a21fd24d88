/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// A process for the harness's own tests: it reports its arguments and environment, and fails on request.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

// about is the answer to GET /about.
type about struct {
	Args  []string `json:"args"`
	Env   []string `json:"env"`
	Dir   string   `json:"dir"`
	Child int      `json:"child"`
}

// childLife bounds the lifetime of a child that is not killed.
const childLife = 10 * time.Minute

func main() {
	if len(os.Args) > 1 && os.Args[1] == "child" {
		<-time.After(childLife)
		return
	}
	if os.Getenv("STUBBORN") != "" {
		signal.Ignore(syscall.SIGTERM)
	}
	child := exec.Command(os.Args[0], "child")
	if err := child.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "starting a child:", err)
		os.Exit(1)
	}
	var unready atomic.Bool
	http.HandleFunc("GET /about", func(w http.ResponseWriter, _ *http.Request) {
		dir, _ := os.Getwd()
		_ = json.NewEncoder(w).Encode(about{Args: os.Args[1:], Env: os.Environ(), Dir: dir, Child: child.Process.Pid})
	})
	http.HandleFunc("GET /readiness", func(w http.ResponseWriter, _ *http.Request) {
		if unready.Load() {
			http.Error(w, "disabled on request", http.StatusServiceUnavailable)
		}
	})
	http.HandleFunc("POST /unready", func(_ http.ResponseWriter, r *http.Request) {
		unready.Store(r.FormValue("is") == "true")
	})
	http.HandleFunc("POST /exit", func(_ http.ResponseWriter, r *http.Request) {
		code, _ := strconv.Atoi(r.FormValue("code"))
		fmt.Fprintln(os.Stderr, "these are my last words")
		os.Exit(code)
	})
	server := &http.Server{Addr: "127.0.0.1:" + os.Getenv("PORT"), ReadHeaderTimeout: 5 * time.Second}
	fmt.Fprintln(os.Stderr, server.ListenAndServe())
	os.Exit(1)
}
