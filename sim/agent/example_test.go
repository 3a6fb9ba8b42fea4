package agent_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/threelaws/threelaws/sim/agent"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// A binary that was built with the overlay is a controller as any other.
func ExampleBinary_Controller() {
	operator := &agent.Binary{Path: "/tmp/operator", Args: []string{"--leader-elect=false"}}
	defer operator.Close()
	w := trial.New(trial.Options{})
	defer w.Stop()
	w.Start("operator", operator.Controller(host.Controller{Name: "operator",
		For: corev1.SchemeGroupVersion.WithKind("ConfigMap")}))
	fmt.Println(w.Settle(trial.Limits{}).Settled)
}
