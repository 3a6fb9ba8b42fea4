package conformance

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/threelaws/threelaws/sim/host"
)

// The kinds of the idioms: an owner, a dependent with a status, a cluster-scoped dependent, and a cluster-scoped owner.
var (
	gardens = schema.GroupVersionKind{Group: "garden.example.com", Version: "v1", Kind: "Garden"}
	works   = schema.GroupVersionKind{Group: "garden.example.com", Version: "v1", Kind: "Work"}
	plots   = schema.GroupVersionKind{Group: "garden.example.com", Version: "v1", Kind: "Plot"}
	parks   = schema.GroupVersionKind{Group: "garden.example.com", Version: "v1", Kind: "Park"}
)

// right is a right operator. The first of its controllers reconciles the sample.
type right struct {
	name        string
	controllers []host.Controller
	sample      string // "" means an owner that wants two dependents
}

// by returns an operator with one controller, for Gardens and their ConfigMaps.
func by(sync idiom) []host.Controller {
	return []host.Controller{reconciler("idiom", gardens, living(sync), parts)}
}

func gardenOf(spec string) string {
	return "apiVersion: garden.example.com/v1\nkind: Garden\nmetadata: {name: web}\nspec: " + spec + "\n"
}

// subjectOf returns a subject that consists of these controllers and a sample.
func subjectOf(t *testing.T, controllers ...host.Controller) Subject {
	of := controllers[0].For
	s := Subject{Controller: controllers[0], Others: controllers[1:], Schedules: 10, CRDs: fstest.MapFS{}}
	s.Samples = []string{sampleFile(t, "apiVersion: "+of.GroupVersion().String()+"\nkind: "+of.Kind+
		"\nmetadata: {name: sample}\nspec: {size: 2, color: green}\n")}
	for kind, scope := range map[schema.GroupVersionKind]string{
		gardens: "Namespaced", works: "Namespaced", plots: "Cluster", parks: "Cluster"} {
		name := strings.ToLower(kind.Kind)
		s.CRDs.(fstest.MapFS)[name+".yaml"] = &fstest.MapFile{Data: fmt.Appendf(nil, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]ss.%[2]s}
spec:
  group: %[2]s
  scope: %[3]s
  names: {kind: %[4]s, plural: %[1]ss}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {spec: {type: object,
      x-kubernetes-preserve-unknown-fields: true, properties: {depth: {type: integer, maximum: 3},
      beds: {type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {
        kind: {type: string, enum: [herb, tree]}}}},
      by: {type: object, additionalProperties: {type: string, enum: [sun, shade]}},
      season: {type: string, enum: [spring, autumn]}, sealed: {type: boolean,
      x-kubernetes-validations: [{rule: self || !oldSelf}]}}}}}}
`, name, kind.Group, scope, kind.Kind)}
	}
	return s
}

func sampleFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sample.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// Right operators are not reported. Each case has 6 schedules, or 500 with SOAK.
func TestRightIdioms(t *testing.T) {
	for _, x := range slices.Concat(rightOwnership, rightNames, rightStatus, rightCleanup) {
		t.Run(x.name, func(t *testing.T) {
			s := subjectOf(t, x.controllers...)
			s.Schedules = 6
			if os.Getenv("SOAK") != "" {
				s.Schedules = 500
			}
			if x.sample != "" {
				s.Samples = []string{sampleFile(t, x.sample)}
			}
			Test(t, s)
		})
	}
}

const podTemplate = "{metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: registry.example/web}]}}"

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: ` + podTemplate + `}
`

const statefulSet = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web}
spec: {replicas: 2, serviceName: web, selector: {matchLabels: {app: web}}, template: ` + podTemplate + `}
`

// The controllers of this module are not reported, although they declare nothing here.
func TestOwnControllers(t *testing.T) {
	for name, x := range map[string]struct {
		with   []string
		sample string
	}{
		"deployment":  {[]string{"replicaset", "kubelet"}, deployment},
		"statefulset": {[]string{"kubelet"}, statefulSet},
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
			undeclared, _ := undeclared(t, name)
			Test(t, Subject{Controller: undeclared, Samples: []string{sampleFile(t, x.sample)}, With: x.with, Schedules: 10})
		})
	}
}

// elected runs a program as long as it holds a Lease.
func elected(run func(context.Context, *rest.Config) error) func(context.Context, *rest.Config) error {
	return func(ctx context.Context, cfg *rest.Config) error {
		client, err := kubernetes.NewForConfig(cfg)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Namespace: "default", Name: "widget"},
				Client:     client.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: cfg.UserAgent}},
			LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(leads context.Context) { err = run(leads, cfg); cancel() },
				OnStoppedLeading: func() {},
			},
		})
		if err != nil {
			return err
		}
		elector.Run(ctx)
		return err
	}
}

// Two instances of a program with leader election do not count as two controllers, because one waits for the Lease.
func TestLeaderElectedPair(t *testing.T) {
	if os.Getenv("OVERLAY") == "" {
		t.Skip("client-go's election selects among timers, by chance without the overlay: " +
			"OVERLAY=1 threelaws test -run LeaderElectedPair ./scenarios/conformance")
	}
	s := whole(false, wrong{})
	s.Run, s.Schedules = elected(s.Run), 100
	Test(t, s)
}
