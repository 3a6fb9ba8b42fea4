package controllerruntime

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/client-go/util/workqueue"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// controller is what a setup has added to its manager, as controller-runtime keeps it.
type controller struct {
	name    string
	do      reconcile.Reconciler
	workers int
	limiter workqueue.TypedRateLimiter[reconcile.Request]
	log     func(*reconcile.Request) logr.Logger
	sources *[]source.Source // those that are yet to be started
}

// controllerPackage is where controller-runtime has the type that its builder makes.
const controllerPackage = "sigs.k8s.io/controller-runtime/pkg/internal/controller"

// controllerOf looks into a runnable: nil, nil where it is no controller. What it looks
// at is exported, but for the list of sources; controller-runtime has no other way to
// them, and [field] says so if they are not there any more.
func controllerOf(r manager.Runnable) (*controller, error) {
	t := reflect.TypeOf(r)
	if t.Kind() != reflect.Pointer || t.Elem().PkgPath() != controllerPackage {
		return nil, nil
	}
	if _, ok := r.(ctrlcontroller.Controller); !ok {
		_, request, _ := strings.Cut(strings.TrimSuffix(t.Elem().Name(), "]"), "[")
		return nil, fmt.Errorf("controllerruntime: a controller whose requests are %s: only those of "+
			"reconcile.Request run here", request)
	}
	return &controller{
		name:    *field[string](r, "Name"),
		do:      *field[reconcile.Reconciler](r, "Do"),
		workers: *field[int](r, "MaxConcurrentReconciles"),
		limiter: *field[workqueue.TypedRateLimiter[reconcile.Request]](r, "RateLimiter"),
		log:     *field[func(*reconcile.Request) logr.Logger](r, "LogConstructor"),
		sources: field[[]source.Source](r, "startWatches"),
	}, nil
}

// field points at a field of controller-runtime's, exported or not.
func field[T any](of any, name string) *T {
	f := reflect.ValueOf(of).Elem().FieldByName(name)
	if !f.IsValid() || f.Type() != reflect.TypeFor[T]() {
		panic(fmt.Sprintf("controllerruntime: %T has no field %s of type %s: this module is for "+
			"controller-runtime v0.24", of, name, reflect.TypeFor[T]()))
	}
	return reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Interface().(*T)
}
