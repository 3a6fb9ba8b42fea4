package host_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// A controller is a value with the kind that it reconciles, routes from events to keys, and a function New.
func ExampleController() {
	maps := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	greeter := host.Controller{
		Name: "greeter", For: maps,
		Routes: []host.Route{{Kind: maps, Do: func(_ host.View, e host.Event, out *host.Effect) {
			if e.New != nil {
				out.Keys = append(out.Keys, e.New.(*corev1.ConfigMap).Name)
			}
		}}},
		New: func(env *host.Env) host.Reconciler {
			return host.SyncFunc(func(ctx context.Context, key string) error {
				greeting := host.Patch{Type: types.MergePatchType, Data: []byte(`{"data":{"greeting":"hello"}}`)}
				_, err := env.Client.Patch(ctx, maps, "default", key, greeting)
				return err
			})
		},
	}
	// Package trial does this, and evaluates the laws. Package host evaluates none.
	world, server := sim.New(sim.Zero{}), fakeapi.New(fakeapi.Options{})
	cluster := host.NewCluster(world, server)
	defer cluster.Stop()
	cluster.Start("greeter", greeter)
	cluster.As("user", &fakeapi.Request{Verb: fakeapi.Create, Kind: server.KindNamed("cm"), Namespace: "default",
		Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}})
	for world.Step() {
	}
	for _, r := range world.History.Records {
		if r.Step > 0 && r.Op != sim.SyncEnd {
			fmt.Println(r.Step, r.Process, r.Verb, r.Object)
		}
	}
	// Output:
	// 1 user create cm/a
	// 2 greeter deliver cm/a
	// 3 greeter sync cm/a
	// 4 greeter patch cm/a
	// 6 greeter deliver cm/a
	// 7 greeter sync cm/a
	// 8 greeter patch cm/a
}
