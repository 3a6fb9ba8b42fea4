package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/threelaws/threelaws/scenarios"
)

type initializing struct {
	*app
	settings
	test bool

	written []string
}

func initCommand(a *app) *cobra.Command {
	c := &initializing{app: a}
	cmd := &cobra.Command{
		Use:   "init [flags] [PACKAGE]",
		Short: "write settings for check, a workflow and a test into an operator's repository",
		Long: `Finds the operator like check does, and writes two files. threelaws.yaml contains each
setting that was found, as a comment. If a setting is wrong, change it there. Use the
flags for settings that init cannot find. init writes these as settings, not as
comments. .github/workflows/threelaws.yml runs check for each change.

--test also writes ownership_test.go into the main package. This test runs main, and has
a subtest for each sample.

init never overwrites a file. If a file exists, init prints its name and leaves it
unchanged.`,
		Example: "  threelaws init\n  threelaws init ./cmd/manager\n  threelaws init --test",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("init takes one package, not %d", len(args))
			}
			if len(args) > 0 {
				c.Package = args[0]
			}
			return c.run(cmd)
		},
	}
	c.found(cmd.Flags())
	cmd.Flags().BoolVar(&c.test, "test", false, "write a Go test as well, which runs main")
	cmd.ValidArgsFunction = completeDirs
	return cmd
}

type initJSON struct {
	Notes   []string `json:"notes"`   // which settings were found in which files, and which were not found
	Written []string `json:"written"` // the written files
}

func (c *initializing) run(cmd *cobra.Command) error {
	c.Dir = repository()
	if cmd.Flags().Changed("args") {
		c.Args = strings.Fields(strings.Join(c.Args, " "))
	}
	op, err := c.operators(cmd.Context(), &c.settings)
	if err != nil {
		return err
	}
	notes := slices.Clone(op.Notes)
	if len(op.Samples) == 0 {
		notes = append(notes, op.noSample())
	}
	for _, f := range []struct{ path, text string }{
		{settingsFile, c.text(op)}, {filepath.Join(".github", "workflows", "threelaws.yml"), workflow},
	} {
		if err := c.leave(filepath.Join(c.Dir, f.path), f.text); err != nil {
			return err
		}
	}
	if c.test {
		text, err := testText(op)
		if err != nil {
			return err
		}
		if err := c.leave(filepath.Join(c.Dir, op.Found.Package, "ownership_test.go"), text); err != nil {
			return err
		}
		notes = append(notes, "the test needs a module: go get github.com/threelaws/threelaws/agent")
	}
	if c.json {
		return c.encode(&initJSON{notes, c.written})
	}
	for _, note := range notes {
		c.printf("%s\n", note)
	}
	for _, path := range c.written {
		c.printf("wrote %s\n", path)
	}
	next := c.name + " check"
	switch {
	case c.test:
		next = "go test " + op.Found.Package
	case len(op.Samples) == 0:
		next = "name a sample in " + settingsFile + ", then " + next
	}
	c.printf("next: %s\n", next)
	return nil
}

func (c *initializing) leave(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return usage("init: %v", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		fmt.Fprintf(c.err, "%s exists already and is left as it is\n", path)
		c.code = worse(c.code, scenarios.ExitUsage)
		return nil
	}
	if err == nil {
		_, err = f.WriteString(text)
		err = cmp.Or(err, f.Close())
	}
	if err != nil {
		return usage("init: %v", err)
	}
	c.written = append(c.written, path)
	return nil
}

func testText(op *operator) (string, error) {
	from := filepath.Join(op.Dir, op.Found.Package)
	var b strings.Builder
	if len(op.Found.Samples) == 0 {
		fmt.Fprintf(&b, testHead, "")
		b.WriteString("\tagent.Test(t, agent.Subject{Run: serve})\n")
	} else {
		fmt.Fprintf(&b, testHead, "\t\"path/filepath\"\n")
		b.WriteString("\tfor _, sample := range []string{\n")
		for _, sample := range op.Found.Samples {
			rel, err := filepath.Rel(from, filepath.Join(op.Dir, sample))
			if err != nil {
				return "", usage("init: %v", err)
			}
			fmt.Fprintf(&b, "\t\t%q,\n", filepath.ToSlash(rel))
		}
		b.WriteString(testSamples)
	}
	b.WriteString(testServe)
	if len(op.Found.Args) == 0 {
		b.WriteString("\tos.Args = os.Args[:1]\n")
	} else {
		b.WriteString("\tos.Args = append(os.Args[:1],\n")
		for _, arg := range op.Found.Args {
			fmt.Fprintf(&b, "\t\t%q,\n", arg)
		}
		b.WriteString("\t)\n")
	}
	return b.String() + "\tmain()\n\treturn nil\n}\n", nil
}

const (
	testHead = `package main

import (
	"context"
	"os"
%s	"testing"

	"github.com/threelaws/threelaws/agent"
)

// TestOwnership checks the operator against the laws of ownership. See
// https://github.com/threelaws/threelaws/blob/main/docs/use/check.md.
func TestOwnership(t *testing.T) {
`
	testSamples = `	} {
		t.Run(filepath.Base(sample), func(t *testing.T) {
			agent.Test(t, agent.Subject{Run: serve, Samples: []string{sample}})
		})
	}
`
	testServe = `}

// serve runs main in a process of its own, in which KUBECONFIG and the in-cluster configuration name a simulated
// cluster. Its arguments are those of the manifests.
func serve(context.Context, *agent.Process) error {
`
)

func (c *initializing) text(op *operator) string {
	var b strings.Builder
	b.WriteString("# Settings of threelaws check. What is a comment is what check finds by itself.\n#\n")
	for _, note := range op.Notes {
		b.WriteString("# - " + note + "\n")
	}
	for _, s := range []struct {
		about, name string
		value       any
		given, none bool
	}{
		{"The main package.", "package", op.Found.Package, c.Package != "", op.Found.Package == ""},
		{"Install manifests: a kustomization, a chart, a folder or a file of YAML; none for no manifests.", "install",
			cmp.Or(op.Found.Install, "none"), c.Install != "", false},
		{"The workload that runs the operator.", "workload", c.Workload, c.Workload != "", c.Workload == ""},
		{"Arguments, in place of those of the workload that runs the operator.", "args", op.Found.Args, c.Args != nil,
			false},
		{"Files and folders with CRDs.", "crds", op.Found.CRDs, c.CRDs != nil, len(op.Found.CRDs) == 0},
		{"Files with samples. Each is tried by itself.", "sample", op.Found.Samples, c.Samples != nil,
			len(op.Found.Samples) == 0},
		{"Files with further objects that exist in every cluster, as a Secret that the operator needs.", "with",
			[]string{}, false, false},
		{"How long the operator is tried in all.", "time", "3m", false, false},
	} {
		if s.none {
			continue
		}
		text, err := yaml.Marshal(map[string]any{s.name: s.value})
		if err != nil {
			panic(err) // strings and lists of strings always have a YAML form
		}
		b.WriteString("\n# " + s.about + "\n")
		for line := range strings.Lines(string(text)) {
			if !s.given {
				b.WriteByte('#')
			}
			b.WriteString(line)
		}
	}
	return b.String()
}

const workflow = `name: ownership
on: [push, pull_request]
permissions:
  contents: read
jobs:
  threelaws:
    runs-on: ubuntu-latest
    timeout-minutes: 30
    steps:
      - uses: actions/checkout@v6
      - uses: threelaws/threelaws@main
        with:
          command: check
`
