package controllerruntime_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/threelaws/threelaws/controllerruntime"
	"github.com/threelaws/threelaws/controllerruntime/internal/widget"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/trial"
)

// cached lists reads from a cache with two Widgets and three ConfigMaps.
var cached = []step{
	the("get", configMap("a"), reads), the("get a widget", wd, reads),
	the("get what is not there", configMap("none"), reads), the("get a widget that is not there", &widget.Widget{
		ObjectMeta: object("default", "none")}, reads),
	the("get in no namespace", &corev1.ConfigMap{ObjectMeta: object("", "a")}, reads),
	the("get metadata", metadata("v1", "ConfigMap", "a"), reads),
	the("get untyped", untyped("example.com/v1", "Widget", "w"), reads),
	the("change what was read", configMap("a"), func(_ context.Context, _ client.Client, o *corev1.ConfigMap) error {
		o.Data["k"] = "changed"
		return nil
	}),
	the("and read it again", configMap("a"), reads),
	the("change a widget that was read", wd, func(_ context.Context, _ client.Client, o *widget.Widget) error {
		o.Spec.Replicas, o.Labels = 77, map[string]string{"changed": ""}
		return nil
	}),
	the("and read that again", wd, reads),
	listed("list", &corev1.ConfigMapList{}, client.InNamespace("default")),
	listed("list everywhere by labels", &corev1.ConfigMapList{}, client.MatchingLabels{"app": "b"}),
	listed("list those with a label", &corev1.ConfigMapList{}, client.HasLabels{"app"}),
	listed("list one", &corev1.ConfigMapList{}, client.Limit(1), client.MatchingLabels{"app": "a"}),
	listed("list the rest", &corev1.ConfigMapList{}, client.Continue("x")),
	listed("list widgets", &widget.List{}), listed("list metadata", metas, client.MatchingLabels{"app": "a"}),
	listed("list by a field", &widget.List{}, client.MatchingFields{"spec.source": "s"}),
	listed("list by a field in a namespace", &widget.List{}, client.InNamespace("default"),
		client.MatchingFields{"spec.source": "s"}),
	listed("list by a field in another", &widget.List{}, client.InNamespace("gone"),
		client.MatchingFields{"spec.source": "s"}),
	listed("list by two fields", &widget.List{}, client.MatchingFields{"spec.source": "s", "name": "v"}),
	listed("list by a field that is not indexed", &widget.List{}, client.MatchingFields{"spec.other": "s"}),
	listed("list by two fields, one not indexed", &widget.List{}, client.MatchingFieldsSelector{
		Selector: fields.ParseSelectorOrDie("name=v,spec.other=s")}),
	listed("list of nothing", &corev1.ConfigMapList{}, client.InNamespace("gone")),
	listed("list untyped", lists.widgets),
}

// fill creates the content of the caches.
func fill(t *testing.T, run *trial.Trial) {
	t.Helper()
	create(t, run, definition(t))
	for _, name := range []string{"a", "b", "c"} {
		create(t, run, configMap(name))
	}
	for _, name := range []string{"v", "w"} {
		create(t, run, widgetNamed(name, 2))
	}
}

func indexes(ctx context.Context, i client.FieldIndexer) error {
	if err := i.IndexField(ctx, &widget.Widget{}, "spec.source", func(o client.Object) []string {
		return []string{"s", o.(*widget.Widget).Spec.Source}
	}); err != nil {
		return err
	}
	return i.IndexField(ctx, &widget.Widget{}, "name", func(o client.Object) []string { return []string{o.GetName()} })
}

// The simulated cache gives the same answers as controller-runtime's own cache, which watches the same server over
// HTTP. Only the order of lists differs.
func TestCacheIsControllerRuntimes(t *testing.T) {
	simulated, real := withSimulatedCache(t), withRealCache(t)
	for i, s := range cached {
		if simulated[i] != real[i] {
			t.Errorf("%s:\nsimulated: %s\n     real: %s", s.name, simulated[i], real[i])
		}
	}
}

func withSimulatedCache(t *testing.T) (out []string) {
	setup := func(mgr ctrl.Manager) error {
		if err := indexes(context.Background(), mgr.GetFieldIndexer()); err != nil {
			return err
		}
		c := mgr.GetClient()
		return ctrl.NewControllerManagedBy(mgr).For(&widget.Widget{}).Owns(&corev1.ConfigMap{}).Complete(
			reconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
				if out == nil {
					out = tellAll(ctx, c)
				}
				return ctrl.Result{}, nil
			}))
	}
	all := controllers(t, widget.Scheme(), setup, controllerruntime.Options{CacheUnstructured: true})
	run := trial.New(trial.Options{Choices: sim.Zero{}, Laws: []*law.Law{}})
	defer run.Stop()
	fill(t, run)
	run.Start("widget", all[0])
	run.Settle(trial.Limits{Writes: 1000, Steps: 10_000})
	if len(out) != len(cached) {
		t.Fatalf("%d of %d steps were done", len(out), len(cached))
	}
	return out
}

func withRealCache(t *testing.T) []string {
	run := trial.New(trial.Options{Choices: sim.Zero{}, Laws: []*law.Law{}})
	defer run.Stop()
	fill(t, run)
	h := httpapi.New(run.Server, run.World.Clock.Now)
	defer h.Close()
	config := &rest.Config{Host: "http://simulated", Transport: h.Transport(), UserAgent: "probe", QPS: -1}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cache, err := ctrlcache.New(config, ctrlcache.Options{Scheme: widget.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	if err := indexes(ctx, cache); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cache.Start(ctx) }()
	defer func() { cancel(); <-done }()
	for _, obj := range []client.Object{&corev1.ConfigMap{}, &widget.Widget{}} {
		if _, err := cache.GetInformer(ctx, obj); err != nil {
			t.Fatal(err)
		}
	}
	if !cache.WaitForCacheSync(ctx) {
		t.Fatal("the real cache does not sync")
	}
	c, err := client.New(config, client.Options{Scheme: widget.Scheme(), Cache: &client.CacheOptions{Reader: cache,
		Unstructured: true}})
	if err != nil {
		t.Fatal(err)
	}
	return tellAll(ctx, c)
}

// tellAll does all reads and returns the results. It sorts lists by name, since a real cache has no order.
func tellAll(ctx context.Context, c client.Client) (out []string) {
	for _, s := range cached {
		obj, err := s.do(ctx, c)
		switch l := obj.(type) {
		case *corev1.ConfigMapList:
			slices.SortFunc(l.Items, func(a, b corev1.ConfigMap) int { return strings.Compare(a.Name, b.Name) })
		case *widget.List:
			slices.SortFunc(l.Items, func(a, b widget.Widget) int { return strings.Compare(a.Name, b.Name) })
		case *unstructured.UnstructuredList:
			slices.SortFunc(l.Items, func(a, b unstructured.Unstructured) int {
				return strings.Compare(a.GetName(), b.GetName())
			})
		case *metav1.PartialObjectMetadataList:
			slices.SortFunc(l.Items, func(a, b metav1.PartialObjectMetadata) int {
				return strings.Compare(a.Name, b.Name)
			})
		}
		out = append(out, tell(obj, err))
	}
	return out
}

// The setup determines the Contract: what a controller watches and owns.
func TestDeclared(t *testing.T) {
	setup := func(mgr ctrl.Manager) error {
		err := ctrl.NewControllerManagedBy(mgr).For(&widget.Widget{}).Owns(&corev1.ConfigMap{}).
			Owns(&corev1.Secret{}, builder.MatchEveryOwner).
			Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(
				func(context.Context, client.Object) []reconcile.Request { panic("not to be tried") })).
			WatchesMetadata(&corev1.Service{}, &handler.EnqueueRequestForObject{}).
			WithOptions(controller.Options{MaxConcurrentReconciles: 3}).Complete(reconcile.Func(nothing))
		if err != nil {
			return err
		}
		return ctrl.NewControllerManagedBy(mgr).Named("other").
			Watches(&corev1.Pod{}, handler.Funcs{}).Complete(reconcile.Func(nothing))
	}
	all, err := controllerruntime.Controllers(widget.Scheme(), setup, controllerruntime.Options{})
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	core := corev1.SchemeGroupVersion
	c := all[0]
	if c.Name != "widget" || c.For != widget.GroupVersion.WithKind("Widget") || c.Workers != 3 ||
		!slices.Equal(c.Owns, []schema.GroupVersionKind{core.WithKind("ConfigMap")}) {
		t.Errorf("%s for %v owns %v, %d workers", c.Name, c.For, c.Owns, c.Workers)
	}
	var kinds []string
	for _, r := range c.Routes {
		kinds = append(kinds, r.Kind.Kind)
	}
	if !slices.Equal(kinds, []string{"Secret", "Pod", "Service"}) {
		t.Errorf("additional watches: %v", c.Routes)
	}
	if o := all[1]; o.Name != "other" || !o.For.Empty() || len(o.Owns) != 0 {
		t.Errorf("%s for %v owns %v", o.Name, o.For, o.Owns)
	}
}

// An object with several owners enqueues them in one order, although the handler ranges over a map.
func TestOwnersAreWokenInOneOrder(t *testing.T) {
	for range 20 {
		var woken []string
		setup := func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(&widget.Widget{}).Owns(&corev1.ConfigMap{},
				builder.MatchEveryOwner).Complete(
				reconcile.Func(func(_ context.Context, req ctrl.Request) (ctrl.Result, error) {
					woken = append(woken, req.Name)
					return ctrl.Result{}, nil
				}))
		}
		all := controllers(t, widget.Scheme(), setup, controllerruntime.Options{})
		run := trial.New(trial.Options{Choices: sim.Zero{}, Laws: []*law.Law{}})
		create(t, run, definition(t))
		run.Start("widget", all[0])
		cm := configMap("owned")
		for _, name := range []string{"e", "d", "c", "b", "a"} {
			cm.OwnerReferences = append(cm.OwnerReferences, metav1.OwnerReference{APIVersion: "example.com/v1",
				Kind: "Widget", Name: name, UID: "u"})
		}
		create(t, run, runtime.Object(cm))
		run.Settle(trial.Limits{Writes: 10, Steps: 1000})
		run.Stop()
		if got := strings.Join(woken, ""); got != "abcde" {
			t.Fatalf("enqueued in the order %q", got)
		}
	}
}
