package scenarios_test

import (
	"fmt"

	"github.com/threelaws/threelaws/controllers"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/law"
)

// A file is parsed, and runs with the controllers of a registry.
func ExampleInterpret() {
	f, err := scenarios.Parse("orphan.txtar", []byte(`# A ReplicaSet adopts the orphan that it selects.

controllers replicaset
apply world.yaml
settle
expect pod/p controller=rs/web

-- world.yaml --
apiVersion: v1
kind: Pod
metadata: {name: p, labels: {app: web}}
spec: {containers: [{name: c, image: i}]}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i}]}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	registry := &scenarios.Registry{Controllers: controllers.Builtin(), Laws: law.All()}
	res := scenarios.Interpret(f, scenarios.Options{Registry: registry})
	fmt.Println("exit code", res.ExitCode)
	for _, e := range res.Errors {
		fmt.Println(e)
	}
	// Output:
	// exit code 0
}
