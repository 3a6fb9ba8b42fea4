// Package operator is an operator in kubebuilder's layout. It has a manager with leader election and without metrics, a
// controller, a mutating and a validating webhook, and install manifests in config. Its test installs it from these
// manifests, and runs it against the server.
package operator

import (
	"context"
	"errors"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/threelaws/threelaws/kubectltest/operator/api"
)

type Options struct {
	Namespace   string // namespace of the leader election lease
	CertDir     string // directory with tls.crt and tls.key of the webhooks
	WebhookPort int    // port of the webhooks on the loopback address
	Elected     func() // called when the operator becomes the leader; may be nil
	Lease       string // name of the leader election lease
}

func Run(ctx context.Context, cluster *rest.Config, o Options) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, api.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	mgr, err := ctrl.NewManager(cluster, ctrl.Options{
		Scheme:                  scheme,
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress:  "0",
		LeaderElection:          true,
		LeaderElectionID:        o.Lease,
		LeaderElectionNamespace: o.Namespace,
		// The operator releases its lease at the end, so that the next leader need not wait.
		LeaderElectionReleaseOnCancel: true,
		// A test runs two managers in one process.
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: "127.0.0.1", Port: o.WebhookPort, CertDir: o.CertDir}),
	})
	if err != nil {
		return err
	}
	r := &reconciler{Client: mgr.GetClient(), events: mgr.GetEventRecorder("site-controller")}
	if err := r.setUp(mgr); err != nil {
		return err
	}
	err = ctrl.NewWebhookManagedBy(mgr, &api.Site{}).WithDefaulter(defaulter{}).WithValidator(validator{}).Complete()
	if err != nil {
		return err
	}
	err = errors.Join(mgr.AddHealthzCheck("healthz", healthz.Ping), mgr.AddReadyzCheck("readyz", healthz.Ping))
	if err != nil {
		return err
	}
	if o.Elected != nil {
		go func() {
			select {
			case <-mgr.Elected():
				o.Elected()
			case <-ctx.Done():
			}
		}()
	}
	return mgr.Start(ctx)
}

// page is the key of the page in a Site's ConfigMap.
const page = "index.html"

func pageOf(s *api.Site) map[string]string {
	return map[string]string{page: "<h1>" + s.Spec.Title + "</h1>"}
}

func podOf(s *api.Site) corev1.PodSpec {
	return corev1.PodSpec{
		Containers: []corev1.Container{{
			Name: "web", Image: s.Spec.Image,
			VolumeMounts: []corev1.VolumeMount{{Name: "page", MountPath: "/www"}},
		}},
		Volumes: []corev1.Volume{{Name: "page", VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: s.Name}}}}},
	}
}

// finalizer keeps a Site until the operator has handled its deletion.
const finalizer = "web.example.com/site"

type reconciler struct {
	client.Client
	events events.EventRecorder
}

func (r *reconciler) setUp(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&api.Site{}).Owns(&appsv1.Deployment{}).Owns(&corev1.ConfigMap{}).
		Complete(r)
}

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

type defaulter struct{}

func (defaulter) Default(_ context.Context, s *api.Site) error {
	if s.Spec.Replicas == nil {
		one := int32(1)
		s.Spec.Replicas = &one
	}
	if s.Spec.Image == "" {
		s.Spec.Image = "web:1"
	}
	return nil
}

type validator struct{}

func (v validator) ValidateCreate(_ context.Context, s *api.Site) (admission.Warnings, error) {
	if strings.HasSuffix(s.Spec.Image, ":latest") {
		return nil, fmt.Errorf("image %s: nobody knows what that is", s.Spec.Image)
	}
	if s.Spec.Domain == "" {
		return admission.Warnings{"without a domain nobody finds the site"}, nil
	}
	return nil, nil
}

func (v validator) ValidateUpdate(ctx context.Context, _, s *api.Site) (admission.Warnings, error) {
	return v.ValidateCreate(ctx, s)
}

func (v validator) ValidateDelete(context.Context, *api.Site) (admission.Warnings, error) {
	return nil, nil
}
