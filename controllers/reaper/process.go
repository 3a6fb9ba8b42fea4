package reaper

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim/host"
)

// Controller runs a reaper as a process, one round a sync: a kubectl that was
// started when the process was. Killed and restarted, it starts over. What it
// ends with is in outcome, nil for success.
func Controller(kind schema.GroupVersionKind, namespace, name string, outcome func(error)) (host.Controller, error) {
	if _, err := newReaper(kind, namespace, name); err != nil {
		return host.Controller{}, err
	}
	return host.Controller{
		Name: "kubectl",
		New: func(env *host.Env) host.Reconciler {
			r, _ := newReaper(kind, namespace, name)
			key := namespace + "/" + name
			env.Queue.Add(key)
			return host.SyncFunc(func(ctx context.Context, _ string) error {
				done, err := r.Round(ctx, env.Client)
				if !done {
					env.Queue.AddAfter(key, interval)
				} else if outcome != nil {
					outcome(err)
				}
				return nil
			})
		},
	}, nil
}
