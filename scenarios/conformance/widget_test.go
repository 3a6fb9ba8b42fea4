package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/sim/host"
)

var (
	widgets = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
	parts   = corev1.SchemeGroupVersion.WithKind("ConfigMap")

	namespaces = corev1.SchemeGroupVersion.WithKind("Namespace")
)

// wrong selects the bugs of an operator for Widgets. The zero value is a right operator.
type wrong struct {
	bare      bool // creates without a reference
	plain     bool // creates with a reference that is not a ControllerRef
	misgives  bool // creates with a reference to a Namespace
	byLabel   bool // deletes all objects with its label
	going     bool // adopts for a terminating Widget
	dying     bool // adopts a terminating part
	shares    bool // counts the parts of other owners
	recreated bool // counts parts of an earlier Widget of the same name
	nothing   bool // does nothing
	grows     bool // never deletes
	recalls   bool // remembers names, and creates no part again, even if another object has the name
	clings    bool // never releases
	drops     bool // removes all references of a part that it releases
	fussy     bool // fails if a part that it releases no longer exists
	takes     bool // takes over any object that has the name of a part
	anchors   bool // never removes its finalizer
	mixes     bool // counts the parts of all Widgets
	grabs     bool // overwrites the list of references
	strips    bool // removes all finalizers of a terminating Widget
	panics    bool // panics if a write fails
	blind     bool // deletes by name only
	stamps    bool // writes the time of day into an annotation in each reconcile
	keeps     bool // keeps the color of a part when its Widget no longer has one
	cascades  bool // deletes the parts of a deleted Widget under each policy
	misroutes bool // a part enqueues the Widget whose name is before the first dash

	silent bool // not a bug: writes no status
}

const (
	anchor = "example.com/anchor" // a finalizer
	partOf = "example.com/widget" // the label of a part
)

// operator creates spec.size ConfigMaps for each Widget, with the Widget's color. If adopts is set, it selects them by
// label, and the server generates their names. Otherwise their names contain a number.
type operator struct {
	wrong
	adopts         bool
	env            *host.Env
	made           map[string]bool // the names that recalls remembers
	widgets, parts cache.Indexer
}

// widget returns a controller that runs the operator, with as few declarations as possible.
func widget(adopts bool, w wrong) host.Controller {
	return host.Controller{Name: "widget", For: widgets,
		Routes: []host.Route{
			{Kind: widgets, Do: func(_ host.View, e host.Event, out *host.Effect) {
				out.Keys = append(out.Keys, key(newest(e)))
			}},
			{Kind: parts, Do: func(v host.View, e host.Event, out *host.Effect) {
				for _, seen := range []runtime.Object{e.Old, e.New} {
					o, is := seen.(metav1.Object)
					if !is {
						continue
					}
					name := o.GetLabels()[partOf]
					if ref := metav1.GetControllerOf(o); ref != nil && ref.Kind == "Widget" {
						name = ref.Name
					}
					if w.misroutes {
						name, _, _ = strings.Cut(name, "-")
					}
					if name != "" {
						out.Keys = append(out.Keys, o.GetNamespace()+"/"+name)
					}
				}
			}},
		},
		New: func(env *host.Env) host.Reconciler {
			o := &operator{wrong: w, adopts: adopts, env: env, made: map[string]bool{},
				widgets: env.Informer(widgets).GetIndexer(),
				parts:   env.Informer(parts).GetIndexer()}
			return host.SyncFunc(o.sync)
		},
	}
}

func newest(e host.Event) runtime.Object {
	if e.New != nil {
		return e.New
	}
	return e.Old
}

func key(o any) string { return o.(metav1.Object).GetNamespace() + "/" + o.(metav1.Object).GetName() }

func (o *operator) sync(ctx context.Context, key string) error {
	obj, ok, _ := o.widgets.GetByKey(key)
	if !ok || o.nothing {
		return nil
	}
	w := obj.(*unstructured.Unstructured)
	if w.GetDeletionTimestamp() != nil && o.strips {
		return o.holdBy(ctx, w, nil)
	}
	if w.GetDeletionTimestamp() != nil && !o.going && !o.cascades {
		return nil
	}
	if o.anchors && len(w.GetFinalizers()) == 0 {
		return o.holdBy(ctx, w, []string{anchor})
	}
	own, err := o.claim(ctx, w)
	if err == nil && w.GetDeletionTimestamp() != nil && o.cascades {
		for _, p := range own {
			err = errors.Join(err, o.remove(ctx, p))
		}
	}
	if err != nil || w.GetDeletionTimestamp() != nil {
		return err
	}
	if err := o.resize(ctx, w, own); err != nil {
		if o.panics {
			panic(err.Error())
		}
		return err
	}
	if o.stamps {
		c := w.DeepCopy()
		c.SetAnnotations(map[string]string{"example.com/seen": time.Now().UTC().Format(time.RFC3339)})
		_, err := o.env.Client.Update(ctx, c)
		return err
	}
	return o.report(ctx, w, len(own))
}

func (o *operator) holdBy(ctx context.Context, w *unstructured.Unstructured, finalizers []string) error {
	if slices.Equal(w.GetFinalizers(), finalizers) {
		return nil
	}
	c := w.DeepCopy()
	c.SetFinalizers(finalizers)
	_, err := o.env.Client.Update(ctx, c)
	return err
}

// claim adopts and releases parts, and returns the parts of a Widget.
func (o *operator) claim(ctx context.Context, w *unstructured.Unstructured) (own []*corev1.ConfigMap, err error) {
	for _, x := range o.parts.List() {
		p := x.(*corev1.ConfigMap)
		ref, matches := metav1.GetControllerOf(p), p.Labels[partOf] == w.GetName()
		switch mine := ref != nil && ref.UID == w.GetUID(); {
		case mine && o.adopts && !matches && o.drops:
			none := fmt.Sprintf(`{"metadata":{"ownerReferences":null,"resourceVersion":%q}}`, p.ResourceVersion)
			_, err = o.env.Client.Patch(ctx, parts, p.Namespace, p.Name,
				host.Patch{Type: types.MergePatchType, Data: []byte(none)})
		case mine && o.adopts && !matches && !o.clings:
			err = o.refer(ctx, p, fmt.Sprintf(`{"$patch":"delete","uid":%q}`, w.GetUID()))
		case mine, o.mixes && p.Labels[partOf] != "", o.shares && matches, o.bare && matches, o.byLabel && matches,
			o.recreated && ref != nil && ref.Name == w.GetName():
			own = append(own, p)
		case o.adopts && matches && ref == nil && (p.DeletionTimestamp == nil || o.dying):
			if err = o.adopt(ctx, w, p); err == nil {
				own = append(own, p)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(own, func(a, b *corev1.ConfigMap) int { return strings.Compare(a.Name, b.Name) })
	return own, nil
}

// adopt reads the Widget from the server before it adopts a part.
func (o *operator) adopt(ctx context.Context, w *unstructured.Unstructured, p *corev1.ConfigMap) error {
	now, err := o.env.Client.Get(ctx, widgets, w.GetNamespace(), w.GetName())
	if err != nil {
		return err
	}
	if m := now.(metav1.Object); m.GetUID() != w.GetUID() || m.GetDeletionTimestamp() != nil && !o.going {
		return fmt.Errorf("widget %s no longer exists or is terminating", w.GetName())
	}
	ref, err := json.Marshal(metav1.NewControllerRef(w, widgets))
	return errors.Join(err, o.refer(ctx, p, string(ref)))
}

// refer changes the references of a part, with its UID as a precondition.
func (o *operator) refer(ctx context.Context, p *corev1.ConfigMap, ref string) error {
	patch := fmt.Sprintf(`{"metadata":{"uid":%q,"ownerReferences":[%s]}}`, p.UID, ref)
	how := types.StrategicMergePatchType
	if o.grabs && !strings.Contains(ref, "delete") {
		how = types.MergePatchType
	}
	_, err := o.env.Client.Patch(ctx, parts, p.Namespace, p.Name, host.Patch{Type: how, Data: []byte(patch)})
	if apierrors.IsNotFound(err) && !o.fussy || apierrors.IsInvalid(err) && strings.Contains(ref, "delete") {
		return nil // it no longer exists
	}
	return err
}

// resize creates missing parts, sets the color of the others, and deletes unwanted parts.
func (o *operator) resize(ctx context.Context, w *unstructured.Unstructured, own []*corev1.ConfigMap) error {
	size, _, _ := unstructured.NestedInt64(w.Object, "spec", "size")
	color, _, _ := unstructured.NestedString(w.Object, "spec", "color")
	for i, p := range own {
		surplus := i >= int(size)
		if !o.adopts && !o.byLabel {
			surplus = !slices.Contains(names(w, size), p.Name)
		}
		switch {
		case p.DeletionTimestamp != nil, surplus && o.grows:
		case surplus:
			if err := o.remove(ctx, p); err != nil {
				return err
			}
		case color == "" && o.keeps:
		case p.Data["color"] != color:
			c := p.DeepCopy()
			c.Data = map[string]string{"color": color}
			if _, err := o.env.Client.Update(ctx, c); err != nil {
				return err
			}
		}
	}
	if o.adopts {
		for n := len(own); n < int(size); n++ {
			if err := o.create(ctx, w, "", color); err != nil {
				return err
			}
		}
		return nil
	}
	for i, name := range names(w, size) {
		if slices.ContainsFunc(own, func(p *corev1.ConfigMap) bool { return p.Name == name }) ||
			(o.shares || o.byLabel) && i < len(own) || o.recalls && o.made[name] {
			continue
		}
		if err := o.create(ctx, w, name, color); err != nil && !(o.recalls && apierrors.IsAlreadyExists(err)) {
			return err
		}
		o.made[name] = true
	}
	return nil
}

func names(w *unstructured.Unstructured, size int64) (list []string) {
	for i := range size {
		list = append(list, fmt.Sprintf("%s-%d", w.GetName(), i))
	}
	return list
}

func (o *operator) remove(ctx context.Context, p *corev1.ConfigMap) error {
	var only metav1.DeleteOptions
	if !o.blind {
		only.Preconditions = &metav1.Preconditions{UID: &p.UID, ResourceVersion: &p.ResourceVersion}
	}
	return ignoreNotFound(o.env.Client.Delete(ctx, parts, p.Namespace, p.Name, only))
}

func (o *operator) create(ctx context.Context, w *unstructured.Unstructured, name, color string) error {
	p := &corev1.ConfigMap{Data: map[string]string{"color": color}, ObjectMeta: metav1.ObjectMeta{
		Namespace: w.GetNamespace(), Name: name, Labels: map[string]string{partOf: w.GetName()},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(w, widgets)}}}
	if color == "" && o.keeps {
		p.Data = nil
	}
	if name == "" {
		p.GenerateName = w.GetName() + "-"
	}
	if o.bare {
		p.OwnerReferences = nil
	}
	if o.plain {
		p.OwnerReferences[0].Controller = nil
	}
	if o.misgives {
		ns, err := o.env.Client.Get(ctx, namespaces, "", w.GetNamespace())
		if err != nil {
			return err
		}
		p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(ns.(metav1.Object), namespaces)}
	}
	_, err := o.env.Client.Create(ctx, p)
	if o.takes && apierrors.IsAlreadyExists(err) {
		_, err = o.env.Client.Update(ctx, p)
	}
	return err
}

func (o *operator) report(ctx context.Context, w *unstructured.Unstructured, n int) error {
	if was, found, _ := unstructured.NestedInt64(w.Object, "status", "parts"); o.silent || found && was == int64(n) {
		return nil
	}
	c := w.DeepCopy()
	err := unstructured.SetNestedField(c.Object, int64(n), "status", "parts")
	if err == nil {
		_, err = o.env.Client.UpdateStatus(ctx, c)
	}
	return err
}
