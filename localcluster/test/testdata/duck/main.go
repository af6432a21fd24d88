/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Duck is the program in the images that tests run. Its first argument selects the action.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "duck:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: env | serve | guard | fail CODE [LINES] | confess TEXT | get PATH | fork | sleep | read FILE | write FILE BYTES | exists FILE | say LINES | health")

func run(args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	arg := func(i int) string { return append(slices.Clone(args), "", "", "")[i] }
	switch args[0] {
	case "env":
		env := os.Environ()
		slices.Sort(env)
		for _, entry := range env {
			fmt.Println(entry)
		}
		fmt.Println("args", args[1:])
		fmt.Println("uid", os.Getuid(), "gid", os.Getgid())
	case "guard":
		return guard()
	case "serve":
		return serve()
	case "fail":
		code, err := strconv.Atoi(arg(1))
		if err != nil {
			return err
		}
		if err := say(cmp.Or(arg(2), "0")); err != nil {
			return err
		}
		fmt.Println("failing with", code)
		os.Exit(code)
	case "confess":
		if err := os.WriteFile("/dev/termination-log", []byte(arg(1)), 0o600); err != nil {
			return err
		}
		os.Exit(1)
	case "get":
		return get(arg(1))
	case "fork":
		child := exec.Command(os.Args[0], "sleep")
		child.SysProcAttr = &syscall.SysProcAttr{Setpgid: os.Getenv("OWN_GROUP") != ""}
		if err := child.Start(); err != nil {
			return err
		}
		fmt.Println("forked")
		time.Sleep(time.Hour)
	case "sleep":
		time.Sleep(time.Hour)
	case "read":
		data, err := os.ReadFile(arg(1))
		fmt.Print(string(data))
		return err
	case "write":
		size, err := strconv.Atoi(arg(2))
		if err != nil {
			return err
		}
		return write(arg(1), size)
	case "exists":
		_, err := os.Stat(arg(1))
		return err
	case "say":
		return say(arg(1))
	case "health":
		return serveHealth()
	default:
		return errUsage
	}
	return nil
}

// say prints so many lines.
func say(number string) error {
	lines, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	for i := range lines {
		fmt.Println("line", i+1)
	}
	return nil
}

// write makes a file, and says whose it is.
func write(file string, size int) error {
	if err := os.WriteFile(file, make([]byte, size), 0o600); err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok {
		fmt.Println("group", owner.Gid)
	}
	return nil
}

// serveHealth says on PORT, by gRPC, that all is well, except with the service "sick".
func serveHealth() error {
	listener, err := net.Listen("tcp", ":"+os.Getenv("PORT"))
	if err != nil {
		return err
	}
	states := health.NewServer()
	states.SetServingStatus("sick", healthv1.HealthCheckResponse_NOT_SERVING)
	server := grpc.NewServer()
	healthv1.RegisterHealthServer(server, states)
	return server.Serve(listener)
}

// serve answers on PORT until it receives SIGTERM. Requests for /get-sick and /get-busy make its probes fail.
func serve() error {
	var sick, busy atomic.Bool
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, os.Getenv("HOSTNAME")) })
	mux.HandleFunc("/get-sick", func(http.ResponseWriter, *http.Request) { sick.Store(true) })
	mux.HandleFunc("/get-busy", func(http.ResponseWriter, *http.Request) { busy.Store(true) })
	mux.HandleFunc("/exit", func(http.ResponseWriter, *http.Request) { os.Exit(7) })
	mux.HandleFunc("/healthy", func(w http.ResponseWriter, _ *http.Request) {
		if sick.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	mux.HandleFunc("/ready", func(w http.ResponseWriter, _ *http.Request) {
		if busy.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	go func() {
		for range signals {
			fmt.Println("received SIGTERM")
			if os.Getenv("STUBBORN") == "" {
				os.Exit(0)
			}
		}
	}()
	fmt.Println("serving on", os.Getenv("PORT"))
	return http.ListenAndServe(":"+os.Getenv("PORT"), mux)
}

// guard is a webhook that rejects all, with the certificate of its volume.
func guard() error {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			Request struct {
				UID string `json:"uid"`
			} `json:"request"`
		}
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
			"response": map[string]any{
				"uid": review.Request.UID, "allowed": false,
				"status": map[string]any{"message": "rejected by " + os.Getenv("HOSTNAME")},
			},
		})
	})
	return http.ListenAndServeTLS(":"+os.Getenv("PORT"), "/certificate/tls.crt", "/certificate/tls.key", handler)
}

// get asks the API server, as the service account.
func get(path string) error {
	config, err := rest.InClusterConfig()
	if file := os.Getenv("KUBECONFIG"); file != "" {
		config, err = clientcmd.BuildConfigFromFlags("", file)
	}
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	response, err := client.Get(config.Host + path)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	fmt.Println(response.StatusCode, string(body))
	return err
}
