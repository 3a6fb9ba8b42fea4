package cli_test

import (
	"context"
	"fmt"
	"os"
	"testing/fstest"

	corev1 "k8s.io/api/core/v1"

	"github.com/threelaws/threelaws/cli"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

var widget = host.Controller{
	Name: "widget", For: corev1.SchemeGroupVersion.WithKind("ConfigMap"),
	New: func(*host.Env) host.Reconciler {
		return host.SyncFunc(func(context.Context, string) error { return nil })
	},
}

// A command knows the controllers of its registry. It may contain scenarios, which can
// be named in any directory. Main is Run with the arguments and streams of the process.
func ExampleCommand_Run() {
	c := cli.Command{
		Name:     "widgetctl",
		Registry: &scenarios.Registry{Controllers: []host.Controller{widget}},
		Library:  fstest.MapFS{"typo.txtar": {Data: []byte("controllers wigdet\n")}},
		Out:      os.Stdout, Err: os.Stdout,
	}
	code := c.Run(context.Background(), []string{"show", "typo"})
	fmt.Println("exit code", code)
	// Output:
	// typo.txtar:1: controllers: unknown controller wigdet; did you mean widget?
	// exit code 2
}

// main is the whole code of a custom command; see docs/use/go-test.md.
func main() {
	cli.Main(&scenarios.Registry{Controllers: []host.Controller{widget}})
}

var _ = main
