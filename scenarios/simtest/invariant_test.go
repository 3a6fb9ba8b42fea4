package simtest_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// oneSecret returns an invariant: a ConfigMap never gets a second Secret.
func oneSecret() *law.Invariant {
	return &law.Invariant{ID: "one-secret-per-map", Sentence: "No two Secrets for one ConfigMap.", When: law.AtWrite,
		Check: func(f *law.Facts) string {
			of := map[string]int{}
			for _, s := range f.All("Secret") {
				if c := metav1.GetControllerOf(s.(*corev1.Secret)); c != nil {
					if of[c.Name]++; of[c.Name] > 1 {
						return "cm/" + c.Name + " has " + strconv.Itoa(of[c.Name]) + " Secrets"
					}
				}
			}
			return ""
		}}
}

// forgetful creates a Secret with a generated name if its cache contains none.
func forgetful(ctx context.Context, env *host.Env, m *corev1.ConfigMap) error {
	for _, o := range env.Informer(secrets).GetIndexer().List() {
		if metav1.IsControlledBy(o.(*corev1.Secret), m) {
			return nil
		}
	}
	s := secret(m)
	s.Name, s.GenerateName = "", m.Name+"-"
	_, err := env.Client.Create(ctx, s)
	return err
}

// An invariant of a case is explored, minimized and printed like a law. A controller that does not violate it is not
// reported.
func TestInvariantOfCase(t *testing.T) {
	of := func(sync func(context.Context, *host.Env, *corev1.ConfigMap) error) simtest.Case {
		c := keeping(keeper(sync))
		c.Controllers[0].Contract.Replicas = nil
		c.User = []simtest.Action{simtest.Verb("label cm/a b=c")}
		c.Settled, c.Faults, c.Invariants = nil, map[string]int{"crash": 1}, []*law.Invariant{oneSecret()}
		c.Objects = []runtime.Object{kept}
		return c
	}
	right := of(keep)
	if x, err := right.Explore(t.Context(), "w"); err != nil || len(x.Failures) > 0 {
		t.Errorf("a right controller is reported: %v, %v", x, err)
	}
	wrong := of(forgetful)
	x, err := wrong.Explore(t.Context(), "w")
	if err != nil || len(x.Failures) == 0 {
		t.Fatalf("not found: %v", err)
	}
	f := x.Failures[0]
	if f.Law != "one-secret-per-map" || !strings.Contains(f.Said(), "cm/a has 2 Secrets") {
		t.Errorf("found %s: %s", f.Law, f.Said())
	}
}
