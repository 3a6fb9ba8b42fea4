package widget

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// claim returns the ConfigMaps of a Widget. It adopts selected ConfigMaps without a controller, and releases those that
// the Widget no longer selects.
func (r *Reconciler) claim(ctx context.Context, w *Widget) (own []*corev1.ConfigMap, err error) {
	var all corev1.ConfigMapList
	if err := r.List(ctx, &all, client.InNamespace(w.Namespace)); err != nil {
		return nil, err
	}
	rechecked := r.Without.Recheck
	for i := range all.Items {
		cm := &all.Items[i]
		selected, ref := cm.Labels[Label] == w.Name, metav1.GetControllerOf(cm)
		switch {
		case cm.DeletionTimestamp != nil:
		case selected && (ref == nil && r.Without.Reference || ref != nil && r.mine(ref, w)):
			own = append(own, cm)
		case ref != nil && r.mine(ref, w):
			err = r.release(ctx, w, cm)
		case selected && ref == nil:
			if !rechecked {
				err, rechecked = r.recheck(ctx, w), true
			}
			if err == nil {
				err = r.adopt(ctx, w, cm)
				own = append(own, cm)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return own, nil
}

func (r *Reconciler) mine(ref *metav1.OwnerReference, w *Widget) bool {
	if r.Without.UID {
		return ref.Kind == "Widget" && ref.Name == w.Name
	}
	return ref.UID == w.UID
}

// recheck returns an error if the server's Widget does not exist any more, is terminating, or has another UID.
func (r *Reconciler) recheck(ctx context.Context, w *Widget) error {
	var now Widget
	if err := r.API.Get(ctx, client.ObjectKeyFromObject(w), &now); err != nil {
		return err
	}
	if now.UID != w.UID || now.DeletionTimestamp != nil {
		return apierrors.NewConflict(GroupVersion.WithResource("widgets").GroupResource(), w.Name, nil)
	}
	return nil
}

func (r *Reconciler) adopt(ctx context.Context, w *Widget, cm *corev1.ConfigMap) error {
	before := cm.DeepCopy()
	if err := controllerutil.SetControllerReference(w, cm, r.Scheme()); err != nil {
		return err
	}
	return r.Patch(ctx, cm, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

func (r *Reconciler) release(ctx context.Context, w *Widget, cm *corev1.ConfigMap) error {
	before := cm.DeepCopy()
	cm.OwnerReferences = slices.DeleteFunc(cm.OwnerReferences,
		func(ref metav1.OwnerReference) bool { return r.mine(&ref, w) })
	err := r.Patch(ctx, cm, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	return client.IgnoreNotFound(err)
}
