package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"

	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/overlay"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

type overlayJSON struct {
	Path string `json:"path"` // the file for go build -overlay
	Go   string `json:"go"`   // the toolchain's version
	Root string `json:"root"` // the toolchain's GOROOT
}

func overlayCommand(a *app) *cobra.Command {
	clean := false
	cmd := &cobra.Command{
		Use:   "overlay [DIR]",
		Short: "print the path of the overlay of the Go standard library",
		Long: `Writes the overlay for the Go toolchain that builds the module in DIR, unless it exists.
DIR is "." by default. Prints the path of the overlay for "go build -overlay". The
overlay replaces files of the standard library. With it, maps, selects, random numbers
and timers depend on one seed inside a bubble of testing/synctest. "threelaws check"
writes the overlay by itself.

A toolchain is recognized by the sha256 sums of the files that the overlay replaces. The
overlay and a copy of a toolchain in the module cache are stored in the user's cache
folder (XDG_CACHE_HOME). --clean removes them.`,
		Example: "  threelaws overlay\n  go test -overlay \"$(threelaws overlay)\" ./...\n  threelaws overlay --clean",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cache, err := cacheDir()
			if err != nil {
				return err
			}
			if clean {
				return os.RemoveAll(cache)
			}
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			t, path, err := overlay.For(cmd.Context(), dir, cache)
			if err != nil {
				return usage("%s: %v", dir, err)
			}
			if t.Instead != "" {
				fmt.Fprintf(a.err, "the toolchain %s is not known: set GOTOOLCHAIN=%s to build with this overlay\n", t.Instead, t.Version)
			}
			if a.json {
				return a.encode(overlayJSON{path, t.Version, t.Root})
			}
			a.printf("%s\n", path)
			return nil
		},
	}
	cmd.Flags().BoolVar(&clean, "clean", false, "remove every overlay and copied toolchain")
	return cmd
}

func cacheDir() (string, error) {
	dir, err := overlay.Cache()
	if err != nil {
		return "", usage("there is no cache folder: %v; set XDG_CACHE_HOME", err)
	}
	return dir, nil
}

func testCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "test [GO TEST FLAGS] [PACKAGES]",
		Short: "run go test with the overlay",
		Long: `Runs "go test" in the module of the working directory, with the overlay of "threelaws
overlay". All arguments are passed to go test. With the overlay, maps, selects and
random numbers are deterministic in bubbles of testing/synctest. agent.Test uses this
threelaws command. go vet does not support the overlay, so it does not run.`,
		Example:            "  threelaws test ./...\n  threelaws test -run TestOperator -v ./internal/controller",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && (args[0] == "-h" || args[0] == "--help") {
				return cmd.Help()
			}
			cache, err := cacheDir()
			if err != nil {
				return err
			}
			own, err := os.Executable()
			if err != nil {
				return usage("test: %v", err)
			}
			test, err := overlay.Test(cmd.Context(), ".", cache, args)
			if err != nil {
				return usage("test: %v", err)
			}
			test.Env = append(test.Env, "THREELAWS="+own)
			test.Stdin, test.Stdout, test.Stderr = os.Stdin, a.out, a.err
			err = test.Run()
			if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
				a.code = scenarios.ExitFail // go test has already printed why it failed
				return nil
			}
			return err
		},
	}
}

// hostsMain adds the flag --main to a command. The flag hosts a main package as a controller for scenario files.
func (a *app) hostsMain(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVar(&a.main, "main", "",
		"build and run this main package of an operator, with the arguments and environment in threelaws.yaml; scenario files "+
			"use the operator's name as a controller")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if a.main == "" {
			return run(cmd, args)
		}
		c := &checking{app: a, settings: settings{Dir: repository()}}
		if err := c.readFile(func(string) bool { return false }); err != nil {
			return err
		}
		c.Package = a.main
		op, err := a.operators(cmd.Context(), &c.settings)
		if err != nil {
			return err
		}
		if op.Close != nil {
			defer op.Close()
		}
		made, err := op.Host(cmd.Context())
		if err != nil {
			return err
		}
		g := *a.registry
		if slices.ContainsFunc(g.Controllers, func(c host.Controller) bool { return c.Name == op.Name }) {
			return usage("--main %s: the operator is named %s, as a controller of threelaws is", a.main, op.Name)
		}
		g.Controllers = append(slices.Clone(g.Controllers), made(host.Controller{Name: op.Name}))
		g.Server = &fakeapi.Options{WebhooksLater: true}
		if len(op.Own) > 0 {
			g.Namespace = op.Own[0].GetNamespace()
		}
		if cmd.Name() == "explore" {
			fmt.Fprintf(a.err, "%s is not judged by most laws of ownership, because nothing says what it owns: %s check finds this out\n",
				op.Name, a.name)
		}
		a.registry = &g
		return run(cmd, args)
	}
	return cmd
}
