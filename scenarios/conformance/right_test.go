package conformance

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/threelaws/threelaws/scenarios/simtest"
)

const podTemplate = "{metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: registry.example/web}]}}"

// This module's own controllers, of which nothing is told but a sample, keep the laws of
// ownership: nobody who is right needs an excuse.
func TestOwnControllers(t *testing.T) {
	for name, x := range map[string]struct {
		with   []string
		sample string
	}{
		"deployment": {[]string{"replicaset", "kubelet"}, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: ` + podTemplate + `}
`},
		"statefulset": {[]string{"kubelet"}, `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web}
spec: {replicas: 2, serviceName: web, selector: {matchLabels: {app: web}}, template: ` + podTemplate + `}
`},
		"job": {[]string{"kubelet@endless"}, `
apiVersion: batch/v1
kind: Job
metadata: {name: web}
spec:
  completions: 2
  parallelism: 2
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: registry.example/web}]}}
`},
	} {
		t.Run(name, func(t *testing.T) {
			undeclared, _ := bare(t, name)
			owner := filepath.Join(t.TempDir(), "web.yaml")
			if err := os.WriteFile(owner, []byte(x.sample), 0o644); err != nil {
				t.Fatal(err)
			}
			Test(t, Subject{Controller: undeclared, Samples: []string{owner}, With: x.with, Schedules: 10})
		})
	}
}

// What adopts one kind by its labels and another by more is not taken to go by labels, and
// what nobody wakes for is not counted.
func TestFoundOfStatefulSet(t *testing.T) {
	undeclared, whole := bare(t, "statefulset")
	owner := filepath.Join(t.TempDir(), "web.yaml")
	text := "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: web}\nspec: {replicas: 2, serviceName: web, " +
		"selector: {matchLabels: {app: web}}, template: " + podTemplate + "}\n"
	if err := os.WriteFile(owner, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	plan := prepared(t, Subject{Controller: undeclared, Samples: []string{owner}, With: []string{"kubelet"}})
	if shown := plan.String(); !strings.Contains(shown, "  adopts      yes, by what could not be found out\n") ||
		!strings.Contains(shown, "  names       ControllerRevision, Pod\n") {
		t.Errorf("got\n%s", shown)
	}
	if got := plan.Controller.Contract.Unwatched; !slices.Equal(got, whole.Contract.Unwatched) || len(got) != 1 {
		t.Errorf("no event wakes it on %v, and it says %v", got, whole.Contract.Unwatched)
	}
	set := &appsv1.StatefulSet{}
	decode(t, text, set)
	if n := plan.Controller.Contract.Replicas(stored(t, set)); n != 2 {
		t.Errorf("it wants %d", n)
	}
}

// A controller that keeps ReplicaSets of older revisions, scaled to 0, wants one.
func TestOlderRevisionsDoNotCount(t *testing.T) {
	undeclared, _ := bare(t, "deployment")
	text := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2, " +
		"selector: {matchLabels: {app: web}}, template: " + podTemplate + "}\n"
	owner := filepath.Join(t.TempDir(), "web.yaml")
	if err := os.WriteFile(owner, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	plan := prepared(t, Subject{Controller: undeclared, Samples: []string{owner}, With: []string{"replicaset", "kubelet"}})
	d := &appsv1.Deployment{}
	decode(t, text, d)
	if plan.Controller.Contract.Replicas == nil || plan.Controller.Contract.Replicas(stored(t, d)) != 1 {
		t.Fatalf("it is not known to want one ReplicaSet:\n%s", plan)
	}
	c := placed(t, plan, "reference-taken-away")
	c.Schedules = 100 // in some of which the second Deployment adopts the ReplicaSet, and keeps it beside its own
	simtest.Check(t, c)
}
