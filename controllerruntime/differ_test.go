package controllerruntime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/threelaws/threelaws/controllerruntime"
	"github.com/threelaws/threelaws/controllerruntime/internal/widget"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/trial"
)

// step is a named action with a client, which returns the result.
type step struct {
	name string
	do   func(ctx context.Context, c client.Client) (runtime.Object, error)
}

// tell returns the result of a step as text.
func tell(obj runtime.Object, err error) string {
	if err != nil {
		text := err.Error()
		if s, ok := err.(apierrors.APIStatus); ok {
			text += fmt.Sprintf(" (%d %s)", s.Status().Code, s.Status().Reason)
		}
		return text
	}
	data, err := json.Marshal(obj)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// The client of a simulated manager behaves like controller-runtime's own client with the same server over HTTP: the
// same objects, field by field, and the same errors.
func TestClientIsControllerRuntimes(t *testing.T) {
	simulated := withSimulatedClient(t, steps)
	real := withRealClient(t, steps)
	for i, s := range steps {
		if simulated[i] != real[i] {
			t.Errorf("%s:\nsimulated: %s\n     real: %s", s.name, simulated[i], real[i])
		}
	}
	refused := 0
	for _, text := range real {
		if !strings.HasPrefix(text, "{") {
			refused++
		}
	}
	t.Logf("%d steps, %d of them errors", len(real), refused)
}

// withSimulatedClient does the steps in a reconcile of a simulated controller.
func withSimulatedClient(t *testing.T, steps []step) (out []string) {
	setup := func(mgr ctrl.Manager) error {
		c := mgr.GetClient()
		return ctrl.NewControllerManagedBy(mgr).Named("probe").For(&corev1.Namespace{}).Complete(
			reconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
				if out == nil && req.Name == "default" {
					for _, s := range steps {
						out = append(out, tell(s.do(ctx, c)))
					}
				}
				return ctrl.Result{}, nil
			}))
	}
	all := controllers(t, widget.Scheme(), setup, controllerruntime.Options{
		Live: []client.Object{&corev1.Pod{}, &corev1.ConfigMap{}, &widget.Widget{}, &appsv1.Deployment{},
			&corev1.Node{}}})
	run := trial.New(trial.Options{Choices: sim.Zero{}, Laws: []*law.Law{}})
	defer run.Stop()
	create(t, run, definition(t))
	run.Start("probe", all[0])
	run.Settle(trial.Limits{Writes: 1000, Steps: 10_000})
	if len(out) != len(steps) {
		t.Fatalf("%d of %d steps were done", len(out), len(steps))
	}
	return out
}

func create(t testing.TB, run *trial.Trial, obj runtime.Object) {
	t.Helper()
	m := obj.(metav1.Object)
	if _, err := run.Request(&fakeapi.Request{Verb: fakeapi.Create, Kind: run.Server.KindOf(obj), Name: m.GetName(),
		Namespace: m.GetNamespace(), Object: obj}); err != nil {
		t.Fatal(err)
	}
}

// withRealClient does the steps with controller-runtime's client.
func withRealClient(t *testing.T, steps []step) (out []string) {
	run := trial.New(trial.Options{Choices: sim.Zero{}, Laws: []*law.Law{}})
	defer run.Stop()
	create(t, run, definition(t))
	h := httpapi.New(run.Server, run.World.Clock.Now)
	defer h.Close()
	config := &rest.Config{Host: "http://simulated", Transport: h.Transport(), UserAgent: "probe",
		WarningHandler: rest.NoWarnings{}, QPS: -1}
	c, err := client.New(config, client.Options{Scheme: widget.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, s := range steps {
		out = append(out, tell(s.do(ctx, c)))
	}
	return out
}

func object(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name,
		Labels: map[string]string{"app": name}}, Data: map[string]string{"k": "v"}}
}

func untyped(apiVersion, kind, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	u.SetNamespace("default")
	u.SetName(name)
	return u
}

func metadata(apiVersion, kind, name string) *metav1.PartialObjectMetadata {
	p := &metav1.PartialObjectMetadata{ObjectMeta: object("default", name)}
	p.APIVersion, p.Kind = apiVersion, kind
	return p
}

// Short names for the table below.
type (
	in      = context.Context
	api     = client.Client
	configs = corev1.ConfigMap
)

// the makes a step that reads an object and then does something with it.
func the[T client.Object](name string, obj T, do func(context.Context, client.Client, T) error) step {
	return step{name, func(ctx in, c api) (runtime.Object, error) {
		o := obj.DeepCopyObject().(T)
		if err := c.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return o, err
		}
		return o, do(ctx, c, o)
	}}
}

// with makes a step that does something with a new object.
func with[T client.Object](name string, obj T, do func(context.Context, client.Client, T) error) step {
	return step{name, func(ctx in, c api) (runtime.Object, error) {
		o := obj.DeepCopyObject().(T)
		return o, do(ctx, c, o)
	}}
}

// listed makes a step that lists.
func listed(name string, list client.ObjectList, opts ...client.ListOption) step {
	return step{name, func(ctx in, c api) (runtime.Object, error) {
		l := list.DeepCopyObject().(client.ObjectList)
		return l, c.List(ctx, l, opts...)
	}}
}

func creates[T client.Object](ctx in, c api, o T) error {
	return c.Create(ctx, o)
}
func updates[T client.Object](ctx in, c api, o T) error {
	return c.Update(ctx, o)
}
func reads[T client.Object](context.Context, client.Client, T) error { return nil }
func deletes[T client.Object](ctx in, c api, o T) error {
	return c.Delete(ctx, o)
}

var (
	wd  = &widget.Widget{ObjectMeta: object("default", "w"), Spec: widget.Spec{Replicas: 2, Source: "s"}}
	pod = &corev1.Pod{ObjectMeta: object("default", "p"),
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	depl = &appsv1.Deployment{ObjectMeta: object("default", "d"),
		Spec: appsv1.DeploymentSpec{Replicas: ptr.To(int32(1)),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}},
				Spec: pod.Spec}}}
	lists = struct {
		maps, widgets *unstructured.UnstructuredList
	}{&unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1",
		"kind": "ConfigMapList"}},
		&unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "WidgetList"}}}
	metas = &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMapList"}}
)

var steps = []step{
	with("create", configMap("a"), creates), with("create again", configMap("a"), creates),
	with("create in no namespace", &corev1.ConfigMap{ObjectMeta: object("", "x")}, creates),
	with("create in a namespace that is not there", &corev1.ConfigMap{ObjectMeta: object("gone", "x")}, creates),
	with("create without a name", &corev1.ConfigMap{ObjectMeta: object("default", "")}, creates),
	with("generate a name", &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default",
		GenerateName: "g-"}}, creates),
	with("create what is wrong", &corev1.ConfigMap{ObjectMeta: object("default", "A_B")}, creates),
	with("create with a status", &widget.Widget{ObjectMeta: object("default", "s"), Status: widget.Status{Ready: 7}},
		creates),
	with("create a widget", wd, creates),
	with("create what its schema forbids", &widget.Widget{ObjectMeta: object("default", "n"),
		Spec: widget.Spec{Replicas: -1}}, creates),
	with("create untyped", untyped("v1", "ConfigMap", "u"), creates),
	with("create an untyped widget", untyped("example.com/v1", "Widget", "u"), creates),
	with("create an untyped kind that is not served", untyped("example.com/v1", "Gadget", "u"), creates),
	with("create by metadata", metadata("v1", "ConfigMap", "m"), creates),
	with("dry run", configMap("dry"), func(ctx in, c api, o *configs) error {
		return c.Create(ctx, o, client.DryRunAll)
	}),
	with("read what is not there", configMap("dry"), func(ctx in, c api, o *configs) error {
		return c.Get(ctx, client.ObjectKeyFromObject(o), o)
	}),
	the("read", configMap("a"), reads),
	the("read a widget", wd, reads),
	the("read untyped", untyped("v1", "ConfigMap", "a"), reads),
	the("read an untyped widget", untyped("example.com/v1", "Widget", "w"), reads),
	the("read metadata", metadata("example.com/v1", "Widget", "w"), reads), the("read no name", configMap(""), reads),
	the("read in no namespace", &corev1.ConfigMap{ObjectMeta: object("", "a")}, reads),
	with("read over other contents", &corev1.ConfigMap{ObjectMeta: object("default", "a"),
		Data: map[string]string{"other": "x"}}, func(ctx in, c api, o *configs) error {
		return c.Get(ctx, client.ObjectKeyFromObject(o), o)
	}),
	the("update", configMap("a"), func(ctx in, c api, o *configs) error {
		o.Data["k"] = "w"
		return c.Update(ctx, o)
	}),
	the("update nothing", configMap("a"), updates),
	with("update what is not there", configMap("none"), updates),
	with("update by metadata", metadata("v1", "ConfigMap", "a"), updates),
	the("update an old version", configMap("a"), func(ctx in, c api, o *configs) error {
		o.ResourceVersion, o.Data = "1", nil
		return c.Update(ctx, o)
	}),
	the("update a widget, status too", wd, func(ctx in, c api, o *widget.Widget) error {
		o.Spec.Replicas, o.Status.Ready = 3, 9
		return c.Update(ctx, o)
	}),
	the("update status, spec too", wd, func(ctx in, c api, o *widget.Widget) error {
		o.Spec.Replicas, o.Status.Ready = 5, 2
		return c.Status().Update(ctx, o)
	}),
	the("patch status", wd, func(ctx in, c api, o *widget.Widget) error {
		b := o.DeepCopyObject().(*widget.Widget)
		o.Status.Ready = 4
		return c.Status().Patch(ctx, o, client.MergeFrom(b))
	}),
	the("update a status of what has none", configMap("a"), func(ctx in, c api, o *configs) error {
		return c.Status().Update(ctx, o)
	}),
	the("update the status of untyped", untyped("example.com/v1", "Widget", "w"), func(ctx in, c api,
		o *unstructured.Unstructured) error {
		o.Object["status"] = map[string]any{"ready": int64(1)}
		return c.Status().Update(ctx, o)
	}),
	the("merge patch", configMap("a"), func(ctx in, c api, o *configs) error {
		b := o.DeepCopy()
		o.Data["n"] = "1"
		return c.Patch(ctx, o, client.MergeFrom(b))
	}),
	the("merge patch of an old version", configMap("a"), func(ctx in, c api, o *configs) error {
		b := o.DeepCopy()
		b.ResourceVersion, o.ResourceVersion = "1", "1"
		o.Data["n"] = "2"
		return c.Patch(ctx, o, client.MergeFromWithOptions(b, client.MergeFromWithOptimisticLock{}))
	}),
	with("strategic patch", pod, creates),
	the("strategic patch of a pod", pod, func(ctx in, c api, o *corev1.Pod) error {
		b := o.DeepCopy()
		o.Spec.Containers[0].Image = "j"
		return c.Patch(ctx, o, client.StrategicMergeFrom(b))
	}),
	the("strategic patch of a widget", wd, func(ctx in, c api, o *widget.Widget) error {
		return c.Patch(ctx, o, client.RawPatch(types.StrategicMergePatchType, []byte(`{"spec":{"replicas":1}}`)))
	}),
	the("json patch", wd, func(ctx in, c api, o *widget.Widget) error {
		return c.Patch(ctx, o, client.RawPatch(types.JSONPatchType,
			[]byte(`[{"op":"replace","path":"/spec/replicas","value":1}]`)))
	}),
	with("patch metadata", metadata("v1", "ConfigMap", "a"), func(ctx in, c api,
		o *metav1.PartialObjectMetadata) error {
		return c.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"x":"y"}}}`)))
	}),
	with("patch what is not there", configMap("none"), func(ctx in, c api, o *configs) error {
		return c.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(`{}`)))
	}),
	with("apply by patch", &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: object("default", "ap"), Data: map[string]string{"x": "1"}}, func(ctx in, c api, o *configs) error {
		return c.Patch(ctx, o, client.Apply, client.FieldOwner("me"), client.ForceOwnership)
	}),
	{"apply", func(ctx in, c api) (runtime.Object, error) {
		ac := coreapply.ConfigMap("ap", "default").WithData(map[string]string{"y": "2"})
		err := c.Apply(ctx, ac, client.FieldOwner("you"))
		return &configs{Data: map[string]string{"ac": fmt.Sprint(ptr.Deref(ac.ResourceVersion, ""), ac.Data)}}, err
	}},
	{"apply without a name", func(ctx in, c api) (runtime.Object, error) {
		return nil, c.Apply(ctx, coreapply.ConfigMap("", "default"), client.FieldOwner("you"))
	}},
	{"apply without an owner", func(ctx in, c api) (runtime.Object, error) {
		return nil, c.Apply(ctx, coreapply.ConfigMap("ap", "default"))
	}},
	{"apply against another", func(ctx in, c api) (runtime.Object, error) {
		return nil, c.Apply(ctx, coreapply.ConfigMap("ap", "default").WithData(map[string]string{"x": "9"}),
			client.FieldOwner("you"))
	}},
	{"apply untyped", func(ctx in, c api) (runtime.Object, error) {
		u := untyped("example.com/v1", "Widget", "applied")
		u.Object["spec"] = map[string]any{"replicas": int64(3)}
		err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("you"))
		return u, err
	}},
	with("a deployment", depl, creates),
	with("read its scale", depl, func(ctx in, c api, o *appsv1.Deployment) error {
		s := &autoscalingv1.Scale{}
		err := c.SubResource("scale").Get(ctx, o, s)
		o.Annotations = map[string]string{"scale": tell(s, err)}
		return err
	}),
	with("write its scale", depl, func(ctx in, c api, o *appsv1.Deployment) error {
		s := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 3}}
		err := c.SubResource("scale").Update(ctx, o, client.WithSubResourceBody(s))
		o.Annotations = map[string]string{"scale": tell(s, err)}
		return err
	}),
	with("patch its scale", depl, func(ctx in, c api, o *appsv1.Deployment) error {
		s := &autoscalingv1.Scale{}
		err := c.SubResource("scale").Patch(ctx, o, client.RawPatch(types.MergePatchType,
			[]byte(`{"spec":{"replicas":2}}`)), client.WithSubResourceBody(s))
		o.Annotations = map[string]string{"scale": tell(s, err)}
		return err
	}),
	with("read a widget's scale", wd, func(ctx in, c api, o *widget.Widget) error {
		s := &autoscalingv1.Scale{}
		err := c.SubResource("scale").Get(ctx, o, s)
		o.Annotations = map[string]string{"scale": tell(s, err)}
		return err
	}),
	with("a subresource that is none", configMap("a"), func(ctx in, c api, o *configs) error {
		return c.SubResource("scale").Get(ctx, o, &autoscalingv1.Scale{})
	}),
	with("evict", pod, func(ctx in, c api, o *corev1.Pod) error {
		e := &policyv1.Eviction{}
		err := c.SubResource("eviction").Create(ctx, o, e)
		o.Annotations = map[string]string{"e": tell(e, err)}
		return err
	}),
	listed("list", &corev1.ConfigMapList{}, client.InNamespace("default")),
	listed("list by labels", &corev1.ConfigMapList{}, client.MatchingLabels{"app": "a"}),
	listed("list those with a label", &corev1.ConfigMapList{}, client.HasLabels{"x"}),
	listed("list by a name", &corev1.ConfigMapList{}, client.MatchingFields{"metadata.name": "a"}),
	listed("list by no such field", &corev1.ConfigMapList{}, client.MatchingFields{"data.k": "a"}),
	listed("list one page", &corev1.ConfigMapList{}, client.InNamespace("default"), client.Limit(1)),
	listed("list by a broken token", &corev1.ConfigMapList{}, client.Continue("x")),
	listed("list widgets", &widget.List{}),
	listed("list untyped", lists.maps, client.InNamespace("default")),
	listed("list untyped widgets", lists.widgets),
	listed("list metadata", metas),
	listed("list in no such namespace", &corev1.ConfigMapList{}, client.InNamespace("gone")),
	{"create or update", func(ctx in, c api) (runtime.Object, error) {
		o := &corev1.ConfigMap{ObjectMeta: object("default", "cu")}
		for range 2 {
			if _, err := controllerutil.CreateOrUpdate(ctx, c, o, func() error {
				o.Data = map[string]string{"a": "b"}
				return controllerutil.SetControllerReference(configMap("a"), o, c.Scheme())
			}); err != nil {
				return o, err
			}
		}
		return o, nil
	}},
	{"create or patch", func(ctx in, c api) (runtime.Object, error) {
		o := &widget.Widget{ObjectMeta: object("default", "cp")}
		for i := range int32(2) {
			if _, err := controllerutil.CreateOrPatch(ctx, c, o, func() error {
				o.Spec.Replicas, o.Status.Ready = i, i
				controllerutil.AddFinalizer(o, "example.com/f")
				return nil
			}); err != nil {
				return o, err
			}
		}
		return o, nil
	}},
	with("with a field owner", configMap("owned"), func(ctx in, c api, o *configs) error {
		return client.WithFieldOwner(c, "wrapped").Create(ctx, o)
	}),
	the("delete another of the name", configMap("a"), func(ctx in, c api, o *configs) error {
		return c.Delete(ctx, o, client.Preconditions{UID: ptr.To(types.UID("other"))})
	}),
	the("delete what has a finalizer", &widget.Widget{ObjectMeta: object("default", "cp")}, deletes),
	the("which stays", &widget.Widget{ObjectMeta: object("default", "cp")}, reads),
	the("delete", configMap("a"), deletes),
	with("delete again", configMap("a"), deletes),
	with("delete by metadata", metadata("v1", "ConfigMap", "u"), deletes),
	with("delete in the foreground", depl, func(ctx in, c api, o *appsv1.Deployment) error {
		return c.Delete(ctx, o, client.PropagationPolicy(metav1.DeletePropagationForeground))
	}),
	with("delete all", configMap(""), func(ctx in, c api, o *configs) error {
		return c.DeleteAllOf(ctx, o, client.InNamespace("default"), client.MatchingLabels{"app": "owned"})
	}),
	with("delete all widgets", wd, func(ctx in, c api, o *widget.Widget) error {
		return c.DeleteAllOf(ctx, o, client.InNamespace("default"))
	}),
	with("delete all everywhere", configMap(""), func(ctx in, c api, o *configs) error {
		return c.DeleteAllOf(ctx, o)
	}),
	listed("what is left", &corev1.ConfigMapList{}), listed("what is left of widgets", &widget.List{}),
}
