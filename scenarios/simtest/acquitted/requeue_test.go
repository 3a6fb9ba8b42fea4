package acquitted_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

// requeues reads something that it does not watch, live, every ten minutes. It reports the result in the App's status.
var requeues = host.Controller{
	Name: "requeues", For: appKind, Routes: []host.Route{itself(appKind)},
	New: operator(func(ctx context.Context, c client, key string) error {
		app := c.app(key)
		if app == nil || app.DeletionTimestamp != nil {
			return nil
		}
		phase := "Waiting"
		m, err := c.Get(ctx, configMaps, app.Namespace, "door")
		switch {
		case err == nil:
			phase = m.(*corev1.ConfigMap).Data["state"]
		case !apierrors.IsNotFound(err):
			return err
		}
		if app.Status.Phase != phase {
			app.Status.Phase = phase
			if err := c.updateAppStatus(ctx, app); err != nil {
				return err
			}
		}
		c.env.Queue.AddAfter(key, 10*time.Minute)
		return nil
	}),
}

func requeuesCase() simtest.Case {
	return simtest.Case{
		Controllers: []host.Controller{requeues},
		World: world("a", 1) + "---\n" + world("b", 1) +
			"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: door}\ndata: {state: closed}\n",
		User: []simtest.Action{
			simtest.Verb("patch cm/door type=merge '{data: {state: open}}'"),
			simtest.Verb("label app/a x=y"),
			simtest.Verb("delete app/b"),
			simtest.Verb("scale app/a replicas=2"),
		},
		AtRest: func(user host.Client) error {
			return eachApp(user, func(a *App) error {
				if a.Status.Phase != "open" {
					return fmt.Errorf("%s says that the door is %s", a.Name, a.Status.Phase)
				}
				return nil
			})
		},
	}
}
