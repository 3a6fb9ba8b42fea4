package leaderworkerset

import (
	"context"
	"encoding/json"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	lws "sigs.k8s.io/lws/api/leaderworkerset/v1"
	"sigs.k8s.io/lws/pkg/controllers"
	"sigs.k8s.io/lws/pkg/webhooks"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/thirdparty/project"
)

// complete answers for the project's own mutating webhook for pods.
func complete(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	var pod corev1.Pod
	err := json.Unmarshal(r.Object.Raw, &pod)
	if err == nil {
		err = webhooks.NewPodWebhook(nil).Default(context.Background(), &pod)
	}
	return project.Answer(r, &pod, err)
}

func TestLeaderWorkerSet(t *testing.T) {
	sets, services := appsv1.SchemeGroupVersion.WithKind("StatefulSet"), corev1.SchemeGroupVersion.WithKind("Service")
	in := project.Program(runtime.NewScheme(), clientgoscheme.AddToScheme, lws.AddToScheme)
	project.Test(t, project.Project{Module: "sigs.k8s.io/lws",
		Definitions: []string{"config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml"},
		Server: &fakeapi.Options{
			Webhooks: map[string]func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse{
				"mpod.kb.io": complete}},
		Controllers: []host.Controller{
			in(host.Controller{Name: "leaderworkerset", For: lws.GroupVersion.WithKind("LeaderWorkerSet"),
				Owns: []schema.GroupVersionKind{sets, services}}, func(m ctrl.Manager) error {
				return controllers.NewLeaderWorkerSetReconciler(m.GetClient(), m.GetScheme(),
					m.GetEventRecorder("leaderworkerset")).SetupWithManager(m)
			}),
			in(host.Controller{Name: "pod", For: corev1.SchemeGroupVersion.WithKind("Pod"),
				Owns: []schema.GroupVersionKind{sets},
				Contract: law.Contract{
					MayEdit: []schema.GroupVersionKind{corev1.SchemeGroupVersion.WithKind("Pod")}, // to restart groups
				},
			}, func(m ctrl.Manager) error {
				return controllers.NewPodReconciler(m.GetClient(), m.GetScheme(), m.GetEventRecorder("pod"), nil).
					SetupWithManager(m)
			}),
		}})
}
