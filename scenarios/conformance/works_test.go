package conformance

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
)

var sea = schema.GroupVersion{Group: "sea.example.com", Version: "v1"}

// fleets creates a Ship for each Fleet, and marks each Ship as built. If greedy, it deletes Ships of other controllers.
func fleets(greedy bool) func(context.Context, *rest.Config) error {
	return func(ctx context.Context, cfg *rest.Config) error {
		client, err := dynamic.NewForConfig(cfg)
		if err != nil {
			return err
		}
		events := make(chan struct{}, 1)
		event := func() {
			select {
			case events <- struct{}{}:
			default:
			}
		}
		factory := bubble.DynamicInformers(client, 0)
		handler := cache.ResourceEventHandlerFuncs{AddFunc: func(any) { event() },
			UpdateFunc: func(_, _ any) { event() }, DeleteFunc: func(any) { event() }}
		fleets, ships := factory.ForResource(sea.WithResource("fleets")), factory.ForResource(sea.WithResource("ships"))
		for _, i := range []cache.SharedIndexInformer{fleets.Informer(), ships.Informer()} {
			if _, err := i.AddEventHandler(handler); err != nil {
				return err
			}
		}
		factory.Start(ctx.Done())
		factory.WaitForCacheSync(ctx.Done())
		to := client.Resource(sea.WithResource("ships")).Namespace("default")
		for {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-events:
			}
			all, err := fleets.Lister().List(labels.Everything())
			if err != nil {
				return err
			}
			for _, o := range all {
				f := o.(*unstructured.Unstructured)
				if f.GetDeletionTimestamp() != nil {
					continue
				}
				ship := object(sea.WithKind("Ship"), "", f.GetName())
				ship.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(f, sea.WithKind("Fleet"))})
				if _, err := to.Create(ctx, ship, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
					event()
				}
			}
			if all, err = ships.Lister().List(labels.Everything()); err != nil {
				return err
			}
			for _, o := range all {
				s := o.(*unstructured.Unstructured)
				switch {
				case s.GetDeletionTimestamp() != nil:
				case greedy && metav1.GetControllerOf(s) != nil && metav1.GetControllerOf(s).Kind != "Fleet":
					err = to.Delete(ctx, s.GetName(), metav1.DeleteOptions{})
				case s.GetAnnotations()["built"] == "":
					_, err = to.Patch(ctx, s.GetName(), types.MergePatchType,
						[]byte(`{"metadata":{"annotations":{"built":"yes"}}}`), metav1.PatchOptions{})
				}
				if err != nil && !apierrors.IsNotFound(err) {
					event()
				}
			}
		}
	}
}

const seaCRDs = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: fleets.sea.example.com}
spec:
  group: sea.example.com
  scope: Namespaced
  names: {plural: fleets, kind: Fleet}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ships.sea.example.com}
spec:
  group: sea.example.com
  scope: Namespaced
  names: {plural: ships, kind: Ship}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`

// A program may have a controller for the kind of its dependents. That controller may edit objects of other owners,
// but may not delete them.
func TestWorksOnItsDependentsKind(t *testing.T) {
	for _, greedy := range []bool{false, true} {
		plan := planned(t, check.Operator{
			Controller: bubble.Controller(host.Controller{Name: "fleets"}, fleets(greedy)),
			CRDs:       []*check.File{manifests(t, "crds.yaml", seaCRDs)}, Schedules: 10,
			Sample: manifests(t, "fleet.yaml", "apiVersion: sea.example.com/v1\nkind: Fleet\n"+
				"metadata: {name: armada, namespace: default}\n")})
		shows(t, plan, "  also        works on sea.example.com/v1 Ship, with any owner\n")
		for _, c := range explored(t, plan, "orphan", "reference-taken-away", "somebody-elses") {
			got, want := strings.Join(laws(c.X), " "), ""
			if greedy && c.Name == "somebody-elses" {
				want = "dont-interfere"
			}
			if got != want {
				t.Errorf("greedy %v, %s: it violates %q", greedy, c.Name, got)
			}
		}
	}
}
