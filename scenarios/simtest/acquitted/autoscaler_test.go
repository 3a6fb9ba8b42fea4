package acquitted_test

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// autoscaler scales an App's ReplicaSets; it is an allowed writer.
var autoscaler = host.Controller{
	Name: "autoscaler", For: secrets, Contract: law.Contract{MayEdit: []schema.GroupVersionKind{replicaSets}},
	Routes: []host.Route{itself(secrets), {Kind: replicaSets, Do: func(v host.View, _ host.Event, out *host.Effect) {
		out.Keys = append(out.Keys, "default/token")
	}}},
	New: operator(func(ctx context.Context, c client, key string) error {
		if key != "default/token" {
			return nil
		}
		for _, name := range c.env.Informer(replicaSets).GetStore().ListKeys() {
			obj, _, _ := c.env.Informer(replicaSets).GetStore().GetByKey(name)
			o := obj.(metav1.Object)
			if o.GetAnnotations()["load"] == "high" {
				continue
			}
			set := obj.(*appsv1.ReplicaSet).DeepCopy()
			metav1.SetMetaDataAnnotation(&set.ObjectMeta, "load", "high")
			_, err := c.Update(ctx, set) // a patch by name could hit a later ReplicaSet of that name
			if ignoreNotFound(err) != nil {
				return err
			}
		}
		return nil
	}),
}

func autoscalerCase() simtest.Case {
	c := referencesCase()
	c.World += "---\n" + token
	c.Controllers = append(c.Controllers, autoscaler)
	return c
}
