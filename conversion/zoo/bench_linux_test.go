/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zoo

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkZoo measures, for each API, assign-gen and the generated tests: seconds, those of the CPU, and the MB of the largest process. The
// metric gen/build is how many times the CPU time of go build of its packages the generator takes; lines are those of all generated files,
// and of the largest one.
func BenchmarkZoo(b *testing.B) {
	generator := builtGenerator(b)
	for _, api := range apis(b) {
		b.Run(api.Name, func(b *testing.B) {
			p := assembled(b, api)
			var generating, building, testing usage
			for round := 0; b.Loop(); round++ {
				generating.run(b, p.Command(b.Context(), generator, "--input-dirs", p.Versions()))
				// A flag that is new each time has the go command compile the project's packages again, and no others.
				build := func(again int) *exec.Cmd {
					return p.Command(b.Context(), "go", "build", fmt.Sprintf("-gcflags=example.com/%s/...=-D=%d", api.Name, again), "./...")
				}
				new(usage).run(b, build(0))
				building.run(b, build(int(time.Now().UnixNano())))
				for _, test := range builtTests(b, p) {
					testing.run(b, test)
				}
			}
			all, largest := 0, 0
			for _, lines := range generated(b, p) {
				all, largest = all+lines, max(largest, lines)
			}
			generating.report(b, "gen")
			testing.report(b, "tests")
			b.ReportMetric(generating.cpu.Seconds()/building.cpu.Seconds(), "gen/build")
			b.ReportMetric(float64(all), "lines")
			b.ReportMetric(float64(largest), "largest-lines")
		})
	}
}

// usage sums the time of commands, and has the memory of the largest process.
type usage struct {
	time, cpu time.Duration
	memory    float64
}

func (u *usage) report(b *testing.B, name string) {
	b.Helper()
	b.ReportMetric(u.time.Seconds()/float64(b.N), name+"-s")
	b.ReportMetric(u.cpu.Seconds()/float64(b.N), name+"-cpu-s")
	b.ReportMetric(u.memory, name+"-MB")
}

func (u *usage) run(t testing.TB, command *exec.Cmd) {
	t.Helper()
	start := time.Now()
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command.Args, err, output)
	}
	u.time += time.Since(start)
	u.cpu += command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	if resources, ok := command.ProcessState.SysUsage().(*syscall.Rusage); ok {
		const kilobytes = 1000
		u.memory = max(u.memory, float64(resources.Maxrss)/kilobytes)
	}
}

// builtTests builds the generated tests, and returns the commands that run them.
func builtTests(t testing.TB, p *Project) []*exec.Cmd {
	t.Helper()
	list := p.Command(t.Context(), "go", "list", "-f", "{{if .TestGoFiles}}{{.Dir}}{{end}}", "./...")
	folders, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	var tests []*exec.Cmd
	for i, folder := range strings.Fields(string(folders)) {
		binary := filepath.Join(p.dir, fmt.Sprintf("%d.test", i))
		build := p.Command(t.Context(), "go", "test", "-vet=off", "-c", "-o", binary, ".")
		build.Dir = folder
		run(t, build)
		test := p.Command(t.Context(), binary, "-test.skip=^(TestTrips|TestObjects|TestFormer)$")
		test.Dir = folder
		tests = append(tests, test)
	}
	return tests
}
