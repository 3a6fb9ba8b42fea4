package cli_test

import (
	"context"

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

// main is the whole of a command of one's own, as docs/use/go-test.md shows it.
func main() {
	cli.Main(&scenarios.Registry{Controllers: []host.Controller{widget}})
}

var _ = main
