package operator

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/threelaws/threelaws/kubectltest/operator/api"
)

// finalizer holds a Site until the operator has seen that it goes.
const finalizer = "web.example.com/site"

type reconciler struct {
	client.Client
	events events.EventRecorder
}

func (r *reconciler) setUp(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&api.Site{}).Owns(&appsv1.Deployment{}).Owns(&corev1.ConfigMap{}).
		Complete(r)
}

// Reconcile brings a Site's page and its Deployment to what it says.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	site := &api.Site{}
	if err := r.Get(ctx, req.NamespacedName, site); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if site.DeletionTimestamp != nil {
		if controllerutil.RemoveFinalizer(site, finalizer) {
			return ctrl.Result{}, r.Update(ctx, site)
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(site, finalizer) {
		return ctrl.Result{}, r.Update(ctx, site)
	}
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: site.Namespace, Name: site.Name}}
	if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, config, func() error {
		config.Data = pageOf(site)
		return controllerutil.SetControllerReference(site, config, r.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	deployment := &appsv1.Deployment{ObjectMeta: config.ObjectMeta}
	deployment.ObjectMeta = metav1.ObjectMeta{Namespace: site.Namespace, Name: site.Name}
	if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, deployment, func() error {
		labels := map[string]string{"site": site.Name}
		deployment.Spec.Replicas = site.Spec.Replicas
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		deployment.Spec.Template.Labels = labels
		if c := deployment.Spec.Template.Spec.Containers; len(c) == 0 || c[0].Image != site.Spec.Image {
			deployment.Spec.Template.Spec = podOf(site)
		}
		return controllerutil.SetControllerReference(site, deployment, r.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.report(ctx, site, deployment.Status.ReadyReplicas); err != nil || !site.Spec.Preview {
		return ctrl.Result{}, err
	}
	if !meta.IsStatusConditionTrue(site.Status.Conditions, "Ready") {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, r.Delete(ctx, site, client.PropagationPolicy(metav1.DeletePropagationBackground),
		client.Preconditions{UID: &site.UID})
}

// report writes the status of a Site where it is another than before.
func (r *reconciler) report(ctx context.Context, site *api.Site, ready int32) error {
	status := metav1.ConditionFalse
	if ready == *site.Spec.Replicas {
		status = metav1.ConditionTrue
	}
	changed := meta.SetStatusCondition(&site.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: status, Reason: "Counted", ObservedGeneration: site.Generation})
	if !changed && site.Status.Ready == ready {
		return nil
	}
	site.Status.Ready = ready
	if status == metav1.ConditionTrue {
		r.events.Eventf(site, nil, corev1.EventTypeNormal, "Ready", "Serve", "%d pods serve the page", ready)
	}
	return r.Status().Update(ctx, site)
}
