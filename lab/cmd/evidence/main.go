// Command evidence writes the measured pages of docs, before a release:
//
//	go run -C lab ./cmd/evidence -version v0.2.0 [PAGE...]
//
// Without pages it writes all of them.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/lab/evidence"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
)

// pages lists the pages by name, with the function that makes each.
var pages = []struct {
	name string
	make func(*measured) ([]byte, error)
}{
	{"clauses", func(m *measured) ([]byte, error) {
		r, err := m.report()
		if err != nil {
			return nil, err
		}
		return evidence.ClausesPage(m.cover, r), nil
	}},
	{"checklist", func(m *measured) ([]byte, error) {
		r, err := m.report()
		if err != nil {
			return nil, err
		}
		return evidence.ChecklistPage(r, m.cover, m.registry, m.root), nil
	}},
	{"track-record", (*measured).track},
	{"eras", func(*measured) ([]byte, error) { return evidence.ErasPage(), nil }},
	{"fidelity", func(m *measured) ([]byte, error) {
		return m.tests("fidelity", ".", "./fakeapi/httpapi", "TestVectors|TestRichSequences|TestDocumentedKinds")
	}},
	{"findings", func(m *measured) ([]byte, error) {
		return m.tests("findings", "upstream", "./hosted", "TestUpstreamsViolationsReplay")
	}},
	{"comparison", func(m *measured) ([]byte, error) {
		if err := m.run("kubectltest", "run", "./comparison"); err != nil {
			return nil, err
		}
		return os.ReadFile(m.path("comparison"))
	}},
}

func main() {
	var names []string
	for _, p := range pages {
		names = append(names, p.name)
	}
	m := &measured{registry: builtin.Registry()}
	version := flag.String("version", "", "the version that the pages name; required")
	flag.StringVar(&m.root, "root", "..", "the directory of the module")
	flag.IntVar(&m.schedules, "schedules", 10, "the schedules of each world, for clauses and checklist")
	flag.IntVar(&m.seeds, "seeds", 30, "the seeds of each bug, for track-record")
	flag.Parse()
	chosen := flag.Args()
	if len(chosen) == 0 {
		chosen = names
	}
	for _, name := range chosen {
		if !slices.Contains(names, name) {
			fail(2, fmt.Errorf("unknown page %s; there are %s", name, strings.Join(names, ", ")))
		}
	}
	if *version == "" {
		fail(2, fmt.Errorf("-version must be given"))
	}
	var err error
	if m.files, err = evidence.Files(); err != nil {
		fail(2, err)
	}
	m.cover = evidence.Coverage(m.files, m.registry)
	for _, p := range pages {
		if !slices.Contains(chosen, p.name) {
			continue
		}
		fmt.Fprintln(os.Stderr, "making", p.name)
		text, err := p.make(m)
		if err == nil {
			err = os.WriteFile(m.path(p.name), stamped(text, *version), 0o644)
		}
		if err != nil {
			fail(1, fmt.Errorf("%s: %w", p.name, err))
		}
	}
}

func fail(code int, err error) {
	fmt.Fprintln(os.Stderr, "evidence:", err)
	os.Exit(code)
}

const stamp = "Generated for threelaws "

// stamped returns a page with the version below its title.
func stamped(page []byte, version string) []byte {
	title, rest, _ := bytes.Cut(page, []byte("\n\n"))
	if bytes.HasPrefix(rest, []byte(stamp)) {
		_, rest, _ = bytes.Cut(rest, []byte("\n\n"))
	}
	return slices.Concat(title, []byte("\n\n"+stamp+version+".\n\n"), rest)
}

type measured struct {
	root             string
	schedules, seeds int
	registry         *scenarios.Registry
	files            []*scenarios.File
	cover            []*evidence.Cover

	examined *evidence.Examination
}

// path returns the path of a page. Two pages are in docs/use, because they are for users.
func (m *measured) path(page string) string {
	part := "evidence"
	if page == "eras" || page == "comparison" {
		part = "use"
	}
	return filepath.Join(m.root, "docs", part, page+".md")
}

// report explores the worlds of all controllers, once.
func (m *measured) report() (*evidence.Examination, error) {
	if m.examined != nil {
		return m.examined, nil
	}
	var err error
	m.examined, err = evidence.Examine(context.Background(), m.files, m.registry,
		evidence.Options{Schedules: m.schedules})
	return m.examined, err
}

// track searches for every known bug, and returns the page with the results.
func (m *measured) track() ([]byte, error) {
	bugs, err := evidence.Bugs(m.files)
	if err != nil {
		return nil, err
	}
	for _, b := range bugs {
		if err := b.Shorten(context.Background(), m.registry); err != nil {
			return nil, err
		}
		if err := b.Measure(context.Background(), m.registry, m.seeds); err != nil {
			return nil, err
		}
	}
	return evidence.TrackPage(bugs, m.seeds), nil
}

// tests runs Go tests with -update, which rewrites a page, and returns this page. module is relative to m.root.
func (m *measured) tests(page, module, pkg, run string) ([]byte, error) {
	if err := m.test(module, pkg, run); err != nil {
		return nil, err
	}
	return os.ReadFile(m.path(page))
}

func (m *measured) test(module, pkg, run string) error {
	return m.run(module, "test", pkg, "-run", run, "-count=1", "-timeout", "2h", "-update")
}

func (m *measured) run(module string, args ...string) error {
	c := exec.Command("go", args...)
	c.Dir, c.Stdout, c.Stderr = filepath.Join(m.root, module), os.Stderr, os.Stderr
	return c.Run()
}
