// The command threelaws-upstream is threelaws with kube-controller-manager's own controllers as an additional era:
// "controllers replicaset@upstream".
package main

import (
	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/threelaws/threelaws/cli"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/upstream/hosted"
)

func main() {
	klog.SetLogger(logr.Discard()) // upstream's log would stand between the lines of the output
	cli.Command{Registry: hosted.Registry(), Library: scenarios.Library()}.Main()
}
