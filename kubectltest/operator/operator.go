// Package operator is an operator as kubebuilder lays one out: a manager with leader
// election and without metrics, a controller, a webhook that completes and one that
// refuses, and under config the manifests it is installed with. Its test runs it against
// the server, from those manifests.
package operator

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/threelaws/threelaws/kubectltest/operator/api"
)

// Options say where the operator runs.
type Options struct {
	Namespace   string // of its lease
	CertDir     string // tls.crt and tls.key of its webhooks
	WebhookPort int    // on the loopback address
	Elected     func() // called once it leads; nil for nobody
	Lease       string // its name
}

// Run runs the operator until the context ends.
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
		// When it ends it gives its lease up, so that the next one need not wait.
		LeaderElectionReleaseOnCancel: true,
		// A test runs two in one process.
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
