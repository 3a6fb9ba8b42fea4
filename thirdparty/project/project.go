// Package project explores released controllers of other projects in worlds from files, and reports the findings.
package project

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
	"github.com/threelaws/threelaws/sim/host"
)

// Project is a released Go module of another project, with its controllers.
type Project struct {
	// Module is the Go module. go.mod has its version.
	Module string
	// Definitions are patterns, as in filepath.Glob, for the files with the CustomResourceDefinitions in the module.
	// Worlds include them with "define released".
	Definitions []string
	Controllers []host.Controller
	// Server, if set, contains the functions that replace the project's webhooks.
	Server *fakeapi.Options
	// Timed means that the project writes the real time into objects, so that two runs have different hashes.
	Timed bool

	kept string // the result of the first call of s.definitions
}

// registry returns the controllers and functions that the project's worlds may name.
func (s *Project) registry() *scenarios.Registry {
	g := builtin.Registry()
	g.Controllers = append(s.Controllers, g.Controllers...)
	g.Server = s.Server
	return g
}

// release is a version of a module, and the module's directory in the module cache.
type release struct{ version, dir string }

// released asks the go command for the module of a project.
func (s *Project) released(t testing.TB) release {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}} {{.Dir}}", s.Module).Output()
	if err != nil {
		t.Fatalf("go list -m %s: %v", s.Module, err)
	}
	version, dir, ok := strings.Cut(strings.TrimSpace(string(out)), " ")
	if !ok || dir == "" {
		t.Fatalf("the module %s is not there: go mod download", s.Module)
	}
	return release{version, dir}
}
