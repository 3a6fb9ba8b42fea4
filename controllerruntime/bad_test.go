package controllerruntime_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/threelaws/threelaws/controllerruntime"
	"github.com/threelaws/threelaws/controllerruntime/internal/widget"
	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim"
)

// of returns a setup with one controller for ConfigMaps.
func of(f func(ctx context.Context, mgr ctrl.Manager, req ctrl.Request) (ctrl.Result, error)) controllerruntime.Setup {
	return func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(
			reconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) { return f(ctx, mgr, req) }))
	}
}

func nothing(context.Context, ctrl.Request) (ctrl.Result, error) { return ctrl.Result{}, nil }

// A setup that cannot run is refused with a one-line error, before anything runs.
func TestRefusedBeforeAnythingRuns(t *testing.T) {
	shared := widget.New(nil, nil, nil, widget.Without{})
	for _, c := range []struct {
		name  string
		setup controllerruntime.Setup
		want  string
	}{
		{"nothing", func(ctrl.Manager) error { return nil }, "adds no controller"},
		{"an error", func(ctrl.Manager) error { return errors.New("no") }, "no"},
		{"one reconciler for all lives", shared.SetupWithManager,
			"hands over the same *widget.Reconciler at every call"},
		{"a runnable", func(mgr ctrl.Manager) error {
			return mgr.Add(manager.RunnableFunc(func(context.Context) error { return nil }))
		}, "manager.RunnableFunc to its manager: only controllers run here"},
		{"a webhook", func(mgr ctrl.Manager) error {
			mgr.GetWebhookServer().Register("/mutate", http.NotFoundHandler())
			return nil
		}, "registers the webhook /mutate"},
		{"a channel", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).WatchesRawSource(source.Channel(
				make(chan event.GenericEvent), &handler.EnqueueRequestForObject{})).Complete(reconcile.Func(nothing))
		}, "its events come from goroutines of its own"},
		{"a read", func(mgr ctrl.Manager) error {
			return mgr.GetAPIReader().Get(context.Background(), client.ObjectKey{Name: "a"}, &corev1.ConfigMap{})
		}, "can neither read nor write"},
	} {
		_, err := controllerruntime.Controllers(widget.Scheme(), c.setup, controllerruntime.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// A kind that no server serves is an error before anything runs. A forbidden call violates never-panic.
func TestReportedNotHung(t *testing.T) {
	cm := &corev1.ConfigMap{}
	for _, c := range []struct {
		name  string
		setup controllerruntime.Setup
		want  string
	}{
		{"no definition", widget.Setup(widget.Without{}), "Widget of example.com/v1, which is not served"},
		{"a panic", of(func(context.Context, ctrl.Manager, ctrl.Request) (ctrl.Result, error) {
			panic("ouch")
		}), "ouch"},
		{"a read of what nobody watches", of(func(ctx context.Context, mgr ctrl.Manager, _ ctrl.Request) (ctrl.Result,
			error) {
			return ctrl.Result{}, mgr.GetClient().Get(ctx, client.ObjectKey{Name: "a"}, &corev1.Secret{})
		}), "Options.Reads"},
		{"a token", of(func(ctx context.Context, mgr ctrl.Manager, _ ctrl.Request) (ctrl.Result, error) {
			account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"}}
			return ctrl.Result{}, mgr.GetClient().SubResource("token").Create(ctx, account, &authenticationv1.TokenRequest{})
		}), "no server here issues tokens"},
		{"a watch that is added", func(mgr ctrl.Manager) error {
			var c interface{ Watch(source.Source) error }
			built, err := ctrl.NewControllerManagedBy(mgr).For(cm).Build(
				reconcile.Func(func(context.Context, ctrl.Request) (ctrl.Result, error) {
					return ctrl.Result{}, c.Watch(source.Func(nil))
				}))
			c = built
			return err
		}, "adds a watch while it runs"},
	} {
		all := controllers(t, widget.Scheme(), c.setup, controllerruntime.Options{})
		x := simtest.Case{Controllers: all, Schedules: 3,
			World: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n"}
		found, err := x.Explore(t.Context(), "bad")
		text := fmt.Sprint(err)
		if err == nil {
			text = found.Text()
		}
		if !strings.Contains(strings.Join(strings.Fields(text), " "), c.want) {
			t.Errorf("%s: %s\nwant %q", c.name, text, c.want)
		}
	}
}

// The result of a Reconcile decides when the request is handled again, by the world's clock.
func TestResults(t *testing.T) {
	var at []time.Duration
	again := errors.New("no")
	results := []struct {
		result ctrl.Result
		err    error
	}{{err: again}, {result: ctrl.Result{Requeue: true}}, {err: again}, {result: ctrl.Result{RequeueAfter: time.Minute}},
		{err: again}, {err: reconcile.TerminalError(again)}}
	alone(t, of(func(context.Context, ctrl.Manager, ctrl.Request) (ctrl.Result, error) {
		at = append(at, time.Since(sim.Epoch))
		return results[len(at)-1].result, results[len(at)-1].err
	}), controllerruntime.Options{})
	ms := time.Millisecond
	want := []time.Duration{0, 5 * ms, 15 * ms, 35 * ms, time.Minute + 35*ms, time.Minute + 40*ms}
	if !slices.Equal(at, want) {
		t.Fatalf("reconciled at %v, want %v", at, want)
	}
}
