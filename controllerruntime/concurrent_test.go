package controllerruntime_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/threelaws/threelaws/controllerruntime"
	"github.com/threelaws/threelaws/scenarios/simtest"
)

// pair keeps two Secrets for each ConfigMap. It reads and creates them concurrently.
type pair struct {
	client.Client
	careless bool // it does not recognize an existing second Secret
}

func (p *pair) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var m corev1.ConfigMap
	if err := p.Get(ctx, req.NamespacedName, &m); err != nil || m.DeletionTimestamp != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	all, ctx := errgroup.WithContext(ctx)
	for i := range 2 {
		all.Go(func() error {
			s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: fmt.Sprint(m.Name, "-", i)}}
			if err := p.Get(ctx, client.ObjectKeyFromObject(s), s); client.IgnoreNotFound(err) != nil || err == nil {
				return err
			}
			if p.careless && i == 1 {
				s.Name, s.GenerateName = "", m.Name+"-"
			}
			if err := controllerutil.SetControllerReference(&m, s, p.Scheme()); err != nil {
				return err
			}
			return client.IgnoreAlreadyExists(p.Create(ctx, s))
		})
	}
	return ctrl.Result{}, all.Wait()
}

func pairs(t testing.TB, careless bool) simtest.Case {
	t.Helper()
	all := controllers(t, scheme.Scheme, func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Complete(
			&pair{mgr.GetClient(), careless})
	}, controllerruntime.Options{Goroutines: true})
	all[0].Contract.Replicas = controllerruntime.Of(func(*corev1.ConfigMap) int { return 2 })
	return simtest.Case{Controllers: all, Schedules: 200,
		World:  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n",
		Faults: map[string]int{"crash": 1, "lost": 1}}
}

// A Reconcile with goroutines runs, and the laws find its bug.
func TestGoroutines(t *testing.T) {
	for careless, want := range map[bool]string{false: "", true: "never-too-many"} {
		x := pairs(t, careless)
		found, err := x.Explore(t.Context(), "pair")
		if err != nil {
			t.Fatal(err)
		}
		if text := found.Text(); (found.Failed > 0) != careless || !strings.Contains(text, want) {
			t.Errorf("careless: %v:\n%s", careless, text)
		}
	}
}

// The schedules of a small world can be enumerated completely.
func TestGoroutinesExhaustively(t *testing.T) {
	x := pairs(t, false)
	x.Exhaustive, x.Faults = true, map[string]int{"lost": 1}
	found, err := x.Explore(t.Context(), "pair")
	if err != nil {
		t.Fatal(err)
	}
	if text := found.Text(); found.Failed > 0 || strings.Contains(text, "not all") {
		t.Errorf("%s", text)
	}
	t.Log(found.Text())
}
