package acquitted_test

import (
	"context"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

// beats never stop. Each runs in fewer schedules, because its world runs for an hour before it counts as settled.
var beats = []host.Controller{heartbeat, leader}

// A heartbeat is not a fight, and does not keep a world from settling.
func TestBeats(t *testing.T) {
	for _, c := range beats {
		t.Run(c.Name, func(t *testing.T) {
			x := unasked(with(tried(conditionsCase()), c))
			x.Schedules = 10
			simtest.Check(t, x)
		})
	}
}

// heartbeat writes the time into an annotation of its own object.
var heartbeat = host.Controller{
	Name: "heartbeat", For: appKind, Routes: []host.Route{itself(appKind)},
	New: operator(func(ctx context.Context, c client, key string) error {
		app := c.app(key)
		if app == nil || app.DeletionTimestamp != nil {
			return nil
		}
		const beat = "example.com/last-seen"
		last, err := time.Parse(time.RFC3339, app.Annotations[beat])
		if age := c.env.Now().Sub(last); err == nil && age < 10*time.Second {
			c.env.Queue.AddAfter(key, 10*time.Second-age)
			return nil
		}
		metav1.SetMetaDataAnnotation(&app.ObjectMeta, beat, c.env.Now().UTC().Format(time.RFC3339))
		if err := c.updateApp(ctx, app); err != nil {
			return err
		}
		c.env.Queue.AddAfter(key, 10*time.Second)
		return nil
	}),
}

// leader renews its lease every ten seconds.
var leader = host.Controller{
	Name: "leader", For: appKind, Routes: []host.Route{itself(appKind)},
	New: func(env *host.Env) host.Reconciler {
		c := client{env.Client, env}
		env.Queue.Add("election")
		return host.SyncFunc(func(ctx context.Context, key string) error {
			if key != "election" {
				return nil
			}
			now := metav1.NewMicroTime(env.Now())
			obj, err := c.Get(ctx, leases, "kube-system", "leader")
			switch {
			case apierrors.IsNotFound(err):
				_, err = c.Create(ctx,
					&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "leader"},
						Spec: coordinationv1.LeaseSpec{RenewTime: &now}})
			case err == nil:
				l := obj.(*coordinationv1.Lease).DeepCopy()
				l.Spec.RenewTime = &now
				_, err = c.Update(ctx, l)
			}
			if err != nil {
				return err
			}
			env.Queue.AddAfter(key, 10*time.Second)
			return nil
		})
	},
}
