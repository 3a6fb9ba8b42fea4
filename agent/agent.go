// Package agent tests an operator against the laws of ownership in a Go test. The operator is a function that gets an
// HTTP transport to a simulated cluster, and runs until its context ends or its process is killed.
//
// The command threelaws builds the test again, with an overlay of the standard library, and runs it in separate
// processes. Therefore the operator keeps its versions of the Kubernetes libraries, and package agent needs no other
// module. Tests run on Linux with Go 1.25 or newer.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Subject describes an operator and its check. Paths are relative to the directory of the test's package. If CRDs,
// Samples or Install is not set, Test searches the module for these files, like "threelaws check".
type Subject struct {
	// Run is the operator. It serves until ctx is done. If it returns earlier, its process exits.
	Run func(ctx context.Context, p *Process) error

	CRDs    fs.FS    // *.yaml files with CRDs, also in subdirectories: os.DirFS("../config/crd/bases")
	Samples []string // files and directories with samples of the operator's kinds
	Files   []string // files with other objects that exist in every simulated cluster
	Install string   // the install manifests: a kustomization, a chart, a directory or a file; "none" for no manifests

	Edits  []string          // merge patches of the sample that are tried, as YAML or JSON: {spec: {replicas: 3}}
	Strict bool              // labels and annotations that a user adds to dependents must stay (law others-marks-stay)
	Skip   map[string]string // cases and laws to leave out, by name; each value is the reason, which is printed
	Accept []Accept          // known violations: they are printed, but do not fail the test

	// Settled is called in the process of the test whenever a cluster has settled. Periodic work may still go on. Calls
	// are not concurrent. If Settled returns an error, the case fails. Settled may read the cluster with the clients
	// that Run uses. Writes and watches are refused with 403.
	Settled func(p *Process) error

	For       time.Duration // the virtual time of each cluster; 0: until it settles, or until the third periodic write
	Schedules int           // the number of schedules of each case; 0 means as many as Time allows
	Time      time.Duration // the time for everything except building; 0 means one minute
}

// Accept is a known violation of a law. Case, if set, is the only case in which it is accepted. Object, if set, must be
// part of the violation's text, for example svc/web.
type Accept struct {
	Law    string `json:"law"`
	Case   string `json:"case,omitempty"`
	Object string `json:"object,omitempty"`
	Reason string `json:"reason"`
}

// Process is the operator's process. Clients of k8s.io/client-go use rest.Config{Host: p.Host, Transport: p.Transport,
// QPS: -1}. The in-cluster configuration can also be used.
type Process struct {
	Name      string            // the name of the process's pod
	Host      string            // the URL of the API server
	Transport http.RoundTripper // sends requests to the API server
}

var (
	mu   sync.Mutex
	host func(run func(context.Context))
	held = map[string]bool{} // names of running tests that have called Test
)

// Connect gives Test the function that runs an operator in a simulated cluster. Only the file that the command
// threelaws adds to the test package calls Connect.
func Connect(to func(run func(context.Context))) { host = to }

// Test checks an operator against the laws. Each case and each law is a subtest of t. A violation fails the subtests of
// its case and its law. Test prints the violation's timeline, and writes it below testdata/threelaws in the package.
// The next run of Test first replays this file. If no case exercised a law, the law's subtest is skipped.
//
// If there is no command threelaws, or if the platform is unsupported, Test skips t, or fails t if $CI is set. Call
// Test only once in a test function. Parallel tests wait for each other.
func Test(t *testing.T, s Subject) {
	t.Helper()
	if s.Run == nil {
		t.Fatal("agent.Test: the Subject has no Run")
	}
	if host != nil {
		host(func(ctx context.Context) { serve(ctx, s.Run) }) // returns only if the process is not hosted
	}
	mu.Lock()
	defer mu.Unlock()
	if held[t.Name()] {
		t.Fatalf("agent.Test is called twice in %s: give each Subject a test or a subtest of its own", t.Name())
	}
	held[t.Name()] = true
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		delete(held, t.Name())
	})
	args, err := s.args(t)
	if err != nil {
		t.Fatalf("agent.Test: %v", err)
	}
	binary, err := find()
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	if s.Settled != nil {
		socket, err := listen(t, s.Settled)
		if err != nil {
			t.Fatalf("agent.Test: Settled: %v", err)
		}
		args = append(args, "--settled", socket)
	}
	check(t, binary, args)
}

// serve runs the operator in a hosted process. If the operator returns before ctx is done, the process exits.
func serve(ctx context.Context, run func(context.Context, *Process) error) {
	name, err := os.Hostname()
	if err == nil {
		returned := false
		defer func() {
			if v := recover(); v != nil {
				panic(v)
			}
			if !returned { // t.FailNow ends only this goroutine
				fmt.Fprintln(os.Stderr, "Run ended its goroutine: it must return an error instead of calling t.Fatal")
				os.Exit(1)
			}
		}()
		err = run(ctx, &Process{Name: name, Host: "http://apiserver", Transport: http.DefaultTransport})
		returned = true
	}
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "Run returned:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func (s *Subject) args(t *testing.T) ([]string, error) {
	args := []string{"check", "--test", t.Name(), "-o", "json-lines"}
	crds, err := folder(t, s.CRDs)
	if err != nil {
		return nil, fmt.Errorf("CRDs: %w", err)
	}
	for _, list := range []struct {
		flag, field string
		paths       []string
	}{
		{"--crds", "CRDs", crds}, {"--sample", "Samples", s.Samples}, {"--with", "Files", s.Files},
	} {
		for _, path := range list.paths {
			if _, err := os.Stat(filepath.FromSlash(path)); err != nil {
				return nil, fmt.Errorf("%s: %w", list.field, err)
			}
			args = append(args, list.flag, path)
		}
	}
	if s.Install != "" {
		args = append(args, "--install", s.Install)
	}
	for _, edit := range s.Edits {
		args = append(args, "--edit", edit)
	}
	if s.Strict {
		args = append(args, "--strict")
	}
	var names []string
	for name := range s.Skip {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		args = append(args, "--skip", name+"="+s.Skip[name])
	}
	for _, a := range s.Accept {
		text, err := json.Marshal(a)
		if err != nil {
			return nil, err
		}
		args = append(args, "--accept", string(text))
	}
	if s.Schedules < 0 || s.Time < 0 || s.For < 0 {
		return nil, errors.New("Schedules, Time and For must not be negative")
	}
	if s.For > 0 {
		args = append(args, "--for", s.For.String())
	}
	if s.Schedules > 0 {
		args = append(args, "--schedules", strconv.Itoa(s.Schedules))
	}
	if s.Time > 0 {
		args = append(args, "--time", s.Time.String())
	} else if s.Schedules == 0 {
		args = append(args, "--time", "1m")
	}
	return args, nil
}

// folder returns a directory with the files, or none for nil. It copies files that are not from os.DirFS.
func folder(t *testing.T, files fs.FS) ([]string, error) {
	if files == nil {
		return nil, nil
	}
	if v := reflect.ValueOf(files); v.Type() == reflect.TypeOf(os.DirFS(".")) {
		return []string{v.String()}, nil // no copy is made, because kept failures contain this path
	}
	dir := t.TempDir()
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o644)
	})
	return []string{dir}, err
}
