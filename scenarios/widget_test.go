package scenarios_test

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

var (
	widgetKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
	configMap  = corev1.SchemeGroupVersion.WithKind("ConfigMap")
)

// widgets returns an operator as a user may write it: a Widget wants spec.count ConfigMaps, widget-0 and so on. If
// broken is set, the operator lets the server generate names, and counts the ConfigMaps in its cache. So it creates too
// many if the cache is outdated. It also deletes objects that it does not own.
func widgets(broken bool) host.Controller {
	c := host.Controller{Name: "widget", Era: "good", For: widgetKind,
		Owns: []schema.GroupVersionKind{configMap}}
	if broken {
		c.Era = "broken"
	}
	c.New = func(env *host.Env) host.Reconciler {
		o := &widgetOperator{client: env.Client, widgets: env.Informer(widgetKind).GetStore(),
			maps: env.Informer(configMap).GetStore(), broken: broken}
		return host.SyncFunc(o.sync)
	}
	c.Routes = []host.Route{
		{Kind: widgetKind, Do: func(_ host.View, e host.Event, out *host.Effect) {
			if e.New != nil {
				m := e.New.(metav1.Object)
				out.Keys = append(out.Keys, m.GetNamespace()+"/"+m.GetName())
			}
		}},
		{Kind: configMap, Do: func(v host.View, e host.Event, out *host.Effect) {
			for _, obj := range []runtime.Object{e.Old, e.New} {
				m, ok := obj.(*corev1.ConfigMap)
				if !ok || metav1.GetControllerOf(m) == nil {
					continue
				}
				name := metav1.GetControllerOf(m).Name
				if w := v.Get(widgetKind, m.Namespace, name); w != nil && metav1.IsControlledBy(m, w.(metav1.Object)) {
					out.Keys = append(out.Keys, m.Namespace+"/"+name)
				}
			}
		}},
	}
	return c
}

type widgetOperator struct {
	client        host.Client
	widgets, maps cache.Store
	broken        bool
}

func (o *widgetOperator) sync(ctx context.Context, key string) error {
	obj, ok, _ := o.widgets.GetByKey(key)
	if !ok || obj.(*unstructured.Unstructured).GetDeletionTimestamp() != nil {
		return nil
	}
	w := obj.(*unstructured.Unstructured)
	count, _, _ := unstructured.NestedInt64(w.Object, "spec", "count")
	have := 0
	for _, x := range o.maps.List() {
		m := x.(*corev1.ConfigMap)
		own := metav1.IsControlledBy(m, w)
		if own || o.broken && strings.HasPrefix(m.Name, w.GetName()+"-") {
			if have++; int64(have) <= count {
				continue
			}
			if err := o.client.Delete(ctx, configMap, m.Namespace, m.Name, metav1.DeleteOptions{}); err != nil &&
				!apierrors.IsNotFound(err) {
				return err
			}
		}
	}
	for i := have; int64(i) < count; i++ {
		m := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.GetNamespace(), Name: fmt.Sprintf("%s-%d", w.GetName(), i),
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(w, widgetKind)}}}
		if o.broken {
			m.Name, m.GenerateName = "", w.GetName()+"-"
		}
		if _, err := o.client.Create(ctx, m); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

// operators is a registry with the widget operator, broken or not.
func operators(broken bool) *scenarios.Registry {
	g := registry()
	g.Controllers = append(g.Controllers, widgets(!broken), widgets(broken))
	return g
}

// widgetDefinition is the CRD of Widget; spec has the field count.
const widgetDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget, shortNames: [wd]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.count, statusReplicasPath: .status.count}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {count: {type: integer, minimum: 0}, size: {type: string}}}
          status: {type: object, properties: {count: {type: integer}}}
`

// widgetWorld has two widgets.
const widgetWorld = `
apiVersion: example.com/v1
kind: Widget
metadata: {name: a, labels: {app: web}}
spec: {count: 2}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: b}
spec: {count: 1}
`
