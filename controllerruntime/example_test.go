package controllerruntime_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/threelaws/threelaws/controllerruntime"
	"github.com/threelaws/threelaws/scenarios/simtest"
)

// Keeper keeps one Secret for each ConfigMap, by the map's name.
type Keeper struct{ client.Client }

func (k *Keeper) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Complete(k)
}

func (k *Keeper) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var m corev1.ConfigMap
	if err := k.Get(ctx, req.NamespacedName, &m); err != nil || m.DeletionTimestamp != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name}}
	if err := k.Get(ctx, req.NamespacedName, s); !apierrors.IsNotFound(err) {
		return ctrl.Result{}, err
	}
	if err := controllerutil.SetControllerReference(&m, s, k.Scheme()); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, client.IgnoreAlreadyExists(k.Create(ctx, s)) // the cache may not show it yet
}

// setUpKeeper makes a new Keeper at every start.
func setUpKeeper(mgr ctrl.Manager) error {
	return (&Keeper{Client: mgr.GetClient()}).SetupWithManager(mgr)
}

// In a test, use simtest.Check in place of Explore. It fails the test, prints the violation, and writes a file that
// replays it.
func ExampleControllers() {
	controllers, err := controllerruntime.Controllers(scheme.Scheme, setUpKeeper, controllerruntime.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	controllers[0].Contract.Replicas = func(runtime.Object) int { return 1 } // one Secret each
	c := simtest.Case{
		Controllers: controllers, With: []string{"gc"},
		World:  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n",
		User:   []simtest.Action{simtest.Verb("label cm/a tier=front"), simtest.Verb("delete cm/a")},
		Faults: map[string]int{"crash": 1, "lost": 1, "relist": 1}, Schedules: 200,
	}
	x, err := c.Explore(context.Background(), "keeper")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(x.Schedules, "schedules,", len(x.Failures), "laws violated")
	// Output: 200 schedules, 0 laws violated
}
