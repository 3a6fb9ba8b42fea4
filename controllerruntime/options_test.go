package controllerruntime_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"golang.org/x/time/rate"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/threelaws/threelaws/controllerruntime"
	"github.com/threelaws/threelaws/controllerruntime/internal/widget"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/trial"
)

// alone runs the first controller of a setup in a world with one ConfigMap until it settles.
func alone(t *testing.T, setup controllerruntime.Setup, o controllerruntime.Options) *trial.Trial {
	t.Helper()
	all := controllers(t, widget.Scheme(), setup, o)
	run := trial.New(trial.Options{Choices: sim.Zero{}, Laws: []*law.Law{}})
	t.Cleanup(run.Stop)
	create(t, run, configMap("a"))
	run.Start(all[0].Name, all[0])
	run.Settle(trial.Limits{Writes: 100, Steps: 1000})
	return run
}

// A reconciler may read from the cache what another controller of the manager watches.
func TestReadsWhatOthersWatch(t *testing.T) {
	var read error = errors.New("no reconcile")
	alone(t, func(mgr ctrl.Manager) error {
		setup := of(func(ctx context.Context, mgr ctrl.Manager, _ ctrl.Request) (ctrl.Result, error) {
			read = mgr.GetClient().Get(ctx, client.ObjectKey{Name: "a", Namespace: "default"}, &corev1.Secret{})
			return ctrl.Result{}, nil
		})
		if err := setup(mgr); err != nil {
			return err
		}
		return ctrl.NewControllerManagedBy(mgr).For(&corev1.Secret{}).Complete(reconcile.Func(nothing))
	}, controllerruntime.Options{})
	if !apierrors.IsNotFound(read) {
		t.Error(read)
	}
}

func TestAccessIsAllowed(t *testing.T) {
	review := &authorizationv1.SelfSubjectAccessReview{}
	alone(t, of(func(ctx context.Context, mgr ctrl.Manager, _ ctrl.Request) (ctrl.Result, error) {
		return ctrl.Result{}, mgr.GetClient().Create(ctx, review)
	}), controllerruntime.Options{})
	if !review.Status.Allowed {
		t.Error(review.Status)
	}
}

// A token bucket uses the world's clock, also inside another limiter. It has two tokens at first and gets one every
// ten minutes.
func TestTokenBucketsGoByTheWorldsClock(t *testing.T) {
	tries := 0
	run := alone(t, func(mgr ctrl.Manager) error {
		bucket := &workqueue.TypedBucketRateLimiter[reconcile.Request]{
			Limiter: rate.NewLimiter(rate.Every(10*time.Minute), 2)}
		limiter := workqueue.NewTypedWithMaxWaitRateLimiter(workqueue.NewTypedMaxOfRateLimiter(
			workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](time.Second,
				time.Second), bucket), time.Hour)
		return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).
			WithOptions(controller.Options{RateLimiter: limiter}).Complete(
			reconcile.Func(func(context.Context, ctrl.Request) (ctrl.Result, error) {
				if tries++; tries <= 4 {
					return ctrl.Result{}, errors.New("again")
				}
				return ctrl.Result{}, nil
			}))
	}, controllerruntime.Options{})
	// There are two tokens at 0s, so tries at 1s and 2s. The third token comes at 10m0s, and the fourth at 20m0s.
	if got := run.World.Clock.Elapsed(); got != 20*time.Minute || tries != 5 {
		t.Errorf("%d tries in %v", tries, got)
	}
}

// Events are reported, and written only if the options say so.
func TestEvents(t *testing.T) {
	for _, written := range []bool{false, true} {
		var told []corev1.Event
		run := alone(t, func(mgr ctrl.Manager) error {
			c, old, recorder := mgr.GetClient(), mgr.GetEventRecorderFor("old"), mgr.GetEventRecorder("new")
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(
				reconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
					var cm corev1.ConfigMap
					if err := c.Get(ctx, req.NamespacedName, &cm); err != nil {
						return ctrl.Result{}, client.IgnoreNotFound(err)
					}
					old.Eventf(&cm, corev1.EventTypeNormal, "Seen", "%d", 1)
					recorder.Eventf(&cm, nil, corev1.EventTypeWarning, "Seen", "Look", "%d", 2)
					return ctrl.Result{}, nil
				}))
		}, controllerruntime.Options{WriteEvents: written, Recorded: func(e corev1.Event) { told = append(told, e) }})
		if len(told) != 2 || told[0].Message != "1" || told[1].Message != "2" || told[1].Action != "Look" ||
			told[0].InvolvedObject.Name != "a" || told[0].InvolvedObject.Kind != "ConfigMap" ||
			told[0].Name == told[1].Name {
			t.Errorf("recorded %v", told)
		}
		stored := 0
		run.Server.Each(run.Server.Kind(corev1.SchemeGroupVersion.WithKind("Event")),
			func(runtime.Object) bool { stored++; return true })
		if want := map[bool]int{true: 2}[written]; stored != want {
			t.Errorf("written: %v: %d events are stored, want %d", written, stored, want)
		}
	}
}

// A manager's mapper has the kind of lists for each kind, like a discovery mapper.
func TestMapperKnowsLists(t *testing.T) {
	starts := 0
	setup := func(mgr ctrl.Manager) error {
		starts++
		if starts > 2 { // the first two only inspect the setup
			m, err := mgr.GetRESTMapper().RESTMapping(schema.GroupKind{Kind: "ConfigMapList"}, "v1")
			if err != nil {
				t.Error(err)
			} else if m.Scope.Name() != "namespace" || m.Resource.Resource != "configmaplists" {
				t.Errorf("%v %v", m.Scope.Name(), m.Resource)
			}
			lists := corev1.SchemeGroupVersion.WithResource("configmaplists")
			if _, err := mgr.GetRESTMapper().KindFor(lists); err != nil {
				t.Error(err)
			}
		}
		return setUpKeeper(mgr)
	}
	all := controllers(t, scheme.Scheme, setup, controllerruntime.Options{})
	w := trial.New(trial.Options{})
	defer w.Stop()
	w.Start("keeper", all[0])
	if starts != 3 {
		t.Errorf("%d starts", starts)
	}
}
