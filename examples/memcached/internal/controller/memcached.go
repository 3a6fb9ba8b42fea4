// Package controller keeps a Deployment for each Memcached.
package controller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/memcached/api/v1"
)

type MemcachedReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

func (r *MemcachedReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var m v1.Memcached
	if err := r.Get(ctx, req.NamespacedName, &m); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if m.DeletionTimestamp != nil {
		return ctrl.Result{}, nil
	}
	var d appsv1.Deployment
	err := r.Get(ctx, req.NamespacedName, &d)
	if apierrors.IsNotFound(err) {
		made, err := r.deployment(&m)
		if err != nil {
			return ctrl.Result{}, err
		}
		return ctrl.Result{}, r.Create(ctx, made)
	} else if err != nil {
		return ctrl.Result{}, err
	}
	if d.Spec.Replicas == nil || *d.Spec.Replicas != m.Spec.Size {
		d.Spec.Replicas = &m.Spec.Size
		return ctrl.Result{}, r.Update(ctx, &d)
	}
	if m.Status.Nodes != d.Status.ReadyReplicas {
		m.Status.Nodes = d.Status.ReadyReplicas
		return ctrl.Result{}, r.Status().Update(ctx, &m)
	}
	return ctrl.Result{}, nil
}

func (r *MemcachedReconciler) deployment(m *v1.Memcached) (*appsv1.Deployment, error) {
	labels := map[string]string{"app.kubernetes.io/name": "memcached", "app.kubernetes.io/instance": m.Name}
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: m.Name, Namespace: m.Namespace, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: &m.Spec.Size,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "memcached", Image: "memcached:1.6",
					Ports: []corev1.ContainerPort{{ContainerPort: 11211, Name: "memcached"}},
				}}},
			},
		},
	}
	return d, ctrl.SetControllerReference(m, d, r.Scheme)
}

func (r *MemcachedReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&v1.Memcached{}).Owns(&appsv1.Deployment{}).Complete(r)
}
