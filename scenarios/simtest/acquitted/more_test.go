package acquitted_test

import (
	"context"
	"fmt"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

// more lists other common practices of operators.
var more = []struct {
	name string
	c    func() simtest.Case
}{
	{"conflict-ignored", func() simtest.Case { return with(upsertsCase(), conflicts) }},
	{"reads-live", func() simtest.Case { return with(upsertsCase(), reads) }},
	{"events", func() simtest.Case { return with(upsertsCase(), recorder) }},
	{"defaulting", func() simtest.Case { return unasked(with(conditionsCase(), defaulter)) }},
	{"delete-collection", func() simtest.Case { return with(finalizersCase(), collections) }},
	{"autoscaler", autoscalerCase},
	{"two-owners", func() simtest.Case { return unasked(with(mappingsCase(), sharers)) }},
	{"generated-names", generatedCase},
}

// Other idioms cause no violations either.
func TestMoreRightOperators(t *testing.T) {
	for _, x := range more {
		t.Run(x.name, func(t *testing.T) {
			c := tried(x.c())
			c.Schedules /= 4
			simtest.Check(t, c)
		})
	}
}

func with(c simtest.Case, controllers ...host.Controller) simtest.Case {
	c.Controllers = controllers
	return c
}

// unasked returns a case in which only the laws are checked when it settles.
func unasked(c simtest.Case) simtest.Case {
	c.AtRest = nil
	return c
}

// reads reads everything live.
var reads = host.Controller{
	Name: "reads", For: appKind, Owns: []schema.GroupVersionKind{configMaps}, Routes: upserts.Routes,
	New: operator(func(ctx context.Context, c client, key string) error {
		name := key[len("default/"):]
		obj, err := c.Get(ctx, appKind, "default", name)
		if err != nil {
			return ignoreNotFound(err)
		}
		app := appOf(obj)
		if app.DeletionTimestamp != nil {
			return nil
		}
		found, err := c.Get(ctx, configMaps, app.Namespace, app.Name)
		if apierrors.IsNotFound(err) {
			m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name},
				Data: map[string]string{"image": app.Spec.Image}}
			if err := controlled(app, m); err != nil {
				return err
			}
			_, err = c.Create(ctx, m)
			return err
		}
		if err != nil {
			return err
		}
		m := found.(*corev1.ConfigMap).DeepCopy()
		if m.Data["image"] == app.Spec.Image && metav1.IsControlledBy(m, app) {
			return nil
		}
		m.Data = map[string]string{"image": app.Spec.Image}
		if err := controlled(app, m); err != nil {
			return err
		}
		_, err = c.Update(ctx, m)
		return err
	}),
}

// recorder records each change in an Event.
var recorder = host.Controller{
	Name: "recorder", For: appKind, Owns: []schema.GroupVersionKind{configMaps}, Routes: upserts.Routes,
	New: func(env *host.Env) host.Reconciler {
		sync := upserts.New(env)
		return host.SyncFunc(func(ctx context.Context, key string) error {
			err := sync.Sync(ctx, key)
			app := client{env.Client, env}.app(key)
			if app == nil {
				return err
			}
			reason := "Synced"
			if err != nil {
				reason = "Failed"
			}
			now := metav1.NewTime(env.Now())
			e := &corev1.Event{
				ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace,
					Name: fmt.Sprintf("%s.%x", app.Name, env.Now().UnixNano())},
				InvolvedObject: corev1.ObjectReference{APIVersion: "example.com/v1", Kind: "App",
					Namespace: app.Namespace, Name: app.Name, UID: app.UID},
				Reason: reason, Type: "Normal", FirstTimestamp: now, LastTimestamp: now, Count: 1,
			}
			_, _ = env.Client.Create(ctx, e) // events are best effort
			return err
		})
	},
}

var leases = coordinationv1.SchemeGroupVersion.WithKind("Lease")

// defaulter fills in unset fields of the spec.
var defaulter = host.Controller{
	Name: "defaulter", For: appKind, Routes: []host.Route{itself(appKind)},
	New: operator(func(ctx context.Context, c client, key string) error {
		app := c.app(key)
		if app == nil || app.DeletionTimestamp != nil || app.Labels["image"] == app.Spec.Image {
			return nil
		}
		metav1.SetMetaDataLabel(&app.ObjectMeta, "image", app.Spec.Image)
		if app.Spec.Replicas < 3 {
			app.Spec.Replicas = 3
		}
		return c.updateApp(ctx, app)
	}),
}
