package widget

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	Label     = "widget"             // label of ConfigMaps; its value names the Widget that selects them
	Finalizer = "example.com/widget" // the finalizer of each Widget until the operator has handled the deletion
	bySource  = "spec.source"        // the name of the index of Widgets by Spec.Source
)

// Without lists the guards that the operator leaves out.
type Without struct {
	Reference bool // the operator creates ConfigMaps without a ControllerRef
	Recheck   bool // the operator adopts without asking the server whether the Widget is terminating
	UID       bool // the operator compares owner references with the Widget by name and kind, not by UID
}

type Reconciler struct {
	client.Client
	API     client.Reader
	Events  record.EventRecorder
	Without Without

	// made holds the names of created ConfigMaps that the cache does not show yet, by the UIDs of Widget and ConfigMap.
	made map[types.UID]map[types.UID]string
}

func New(c client.Client, api client.Reader, events record.EventRecorder, without Without) *Reconciler {
	return &Reconciler{Client: c, API: api, Events: events, Without: without,
		made: map[types.UID]map[types.UID]string{}}
}

// Setup returns a function that sets up a new operator.
func Setup(without Without) func(ctrl.Manager) error {
	return func(mgr ctrl.Manager) error {
		r := New(mgr.GetClient(), mgr.GetAPIReader(), mgr.GetEventRecorderFor("widget"), without)
		return r.SetupWithManager(mgr)
	}
}

func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	err := mgr.GetFieldIndexer().IndexField(context.Background(), &Widget{}, bySource,
		func(o client.Object) []string { return []string{o.(*Widget).Spec.Source} })
	if err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		For(&Widget{}).
		Owns(&corev1.ConfigMap{}).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(orphan)).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.users)).
		Complete(r)
}

// orphan maps a ConfigMap without a controller to the Widget that selects the ConfigMap.
func orphan(_ context.Context, o client.Object) []reconcile.Request {
	name := o.GetLabels()[Label]
	if name == "" || metav1.GetControllerOf(o) != nil {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: name}}}
}

// users maps a Secret to the Widgets that take their text from the Secret.
func (r *Reconciler) users(ctx context.Context, o client.Object) (out []reconcile.Request) {
	var all List
	if err := r.List(ctx, &all, client.InNamespace(o.GetNamespace()),
		client.MatchingFields{bySource: o.GetName()}); err != nil {
		return nil
	}
	for i := range all.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&all.Items[i])})
	}
	return out
}

func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	w := &Widget{}
	if err := r.Get(ctx, req.NamespacedName, w); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if w.DeletionTimestamp != nil {
		before := w.DeepCopyObject().(*Widget)
		if !controllerutil.RemoveFinalizer(w, Finalizer) {
			return ctrl.Result{}, nil
		}
		err := r.Patch(ctx, w, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	before := w.DeepCopyObject().(*Widget)
	if controllerutil.AddFinalizer(w, Finalizer) {
		err := r.Patch(ctx, w, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		return ctrl.Result{}, err
	}
	own, err := r.claim(ctx, w)
	if err != nil {
		return ctrl.Result{}, err
	}
	if waits, err := r.waits(ctx, w, own); waits || err != nil {
		return ctrl.Result{}, err
	}
	if err := r.scale(ctx, w, own); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.status(ctx, w, own)
}

// waits reports whether a created ConfigMap exists on the server and the cache does not show it yet.
func (r *Reconciler) waits(ctx context.Context, w *Widget, own []*corev1.ConfigMap) (bool, error) {
	made := r.made[w.UID]
	for _, cm := range own {
		delete(made, cm.UID)
	}
	for _, uid := range slices.Sorted(maps.Keys(made)) {
		name := made[uid]
		var cm corev1.ConfigMap
		err := r.API.Get(ctx, types.NamespacedName{Namespace: w.Namespace, Name: name}, &cm)
		if client.IgnoreNotFound(err) != nil {
			return true, err
		}
		if err == nil && cm.UID == uid && metav1.IsControlledBy(&cm, w) && cm.Labels[Label] == w.Name {
			return true, nil
		}
		delete(made, uid)
	}
	return false, nil
}

// scale creates missing ConfigMaps, deletes surplus ones, and sets the text of the others.
func (r *Reconciler) scale(ctx context.Context, w *Widget, own []*corev1.ConfigMap) error {
	data, err := r.text(ctx, w)
	if err != nil {
		return err
	}
	for have := len(own); have < int(w.Spec.Replicas); have++ {
		cm := &corev1.ConfigMap{Data: data, ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace,
			GenerateName: w.Name + "-", Labels: map[string]string{Label: w.Name}}}
		if !r.Without.Reference {
			if err := controllerutil.SetControllerReference(w, cm, r.Scheme()); err != nil {
				return err
			}
		}
		if err := r.Create(ctx, cm); err != nil {
			return err
		}
		r.Events.Eventf(w, corev1.EventTypeNormal, "Made", "ConfigMap %s", cm.Name)
		if r.made[w.UID] == nil {
			r.made[w.UID] = map[types.UID]string{}
		}
		r.made[w.UID][cm.UID] = cm.Name
	}
	for i, cm := range own {
		switch {
		case i >= int(w.Spec.Replicas):
			err = client.IgnoreNotFound(r.Delete(ctx, cm, r.asRead(cm)))
		case !maps.Equal(cm.Data, data):
			before := cm.DeepCopy()
			cm.Data = data
			err = r.Patch(ctx, cm, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// asRead returns preconditions that limit a deletion to the version that was read, because another owner may have
// adopted the object since.
func (r *Reconciler) asRead(cm *corev1.ConfigMap) client.Preconditions {
	return client.Preconditions{UID: &cm.UID, ResourceVersion: &cm.ResourceVersion}
}

func (r *Reconciler) text(ctx context.Context, w *Widget) (map[string]string, error) {
	if w.Spec.Source == "" {
		return nil, nil
	}
	var s corev1.Secret
	err := r.Get(ctx, types.NamespacedName{Namespace: w.Namespace, Name: w.Spec.Source}, &s)
	if err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return map[string]string{"text": string(s.Data["text"])}, nil
}

func (r *Reconciler) status(ctx context.Context, w *Widget, own []*corev1.ConfigMap) error {
	if ready := int32(len(own)); w.Status.Ready != ready {
		w.Status.Ready = ready
		return r.Status().Update(ctx, w)
	}
	return nil
}
