package simtest_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// docs/use/go-test.md shows what follows, byte for byte.

// Keeper keeps one Secret for each ConfigMap, by the map's name.
var Keeper = host.Controller{
	Name: "keeper", For: configMaps, Owns: []schema.GroupVersionKind{secrets},
	Contract: law.Contract{ // what the laws may expect
		Replicas: func(configMap runtime.Object) int { return 1 },
	},
	Routes: []host.Route{
		{Kind: configMaps, Do: func(_ host.View, e host.Event, out *host.Effect) {
			if e.New != nil {
				out.Keys = append(out.Keys, "default/"+e.New.(*corev1.ConfigMap).Name)
			}
		}},
		{Kind: secrets, Do: func(_ host.View, e host.Event, out *host.Effect) {
			if e.New == nil {
				out.Keys = append(out.Keys, "default/"+e.Old.(*corev1.Secret).Name)
			}
		}},
	},
	New: func(env *host.Env) host.Reconciler { // at every start, and again after each crash
		maps, kept := env.Informer(configMaps).GetIndexer(), env.Informer(secrets).GetIndexer()
		return host.SyncFunc(func(ctx context.Context, key string) error {
			m, ok, _ := maps.GetByKey(key)
			if _, have, _ := kept.GetByKey(key); !ok || have || m.(*corev1.ConfigMap).DeletionTimestamp != nil {
				return nil
			}
			_, err := env.Client.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
				Namespace: "default", Name: m.(*corev1.ConfigMap).Name,
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(m.(metav1.Object), configMaps)},
			}})
			return err // AlreadyExists too: an object of another owner may have the name
		})
	},
}

func TestKeeper(t *testing.T) {
	simtest.Check(t, simtest.Case{
		Controllers: []host.Controller{Keeper},
		With:        []string{"gc"},
		World: `
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b}
`,
		User:   []simtest.Action{simtest.Verb("label cm/b tier=front"), simtest.Verb("delete cm/a")},
		Faults: map[string]int{"crash": 1, "lost": 1, "relist": 1},
	})
}

// The page ends here.
