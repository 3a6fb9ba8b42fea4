package agentsandbox

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"

	core "sigs.k8s.io/agent-sandbox/api/v1alpha1"
	"sigs.k8s.io/agent-sandbox/controllers"
	"sigs.k8s.io/agent-sandbox/extensions/api/v1alpha1"
	extensions "sigs.k8s.io/agent-sandbox/extensions/controllers"

	"github.com/threelaws/threelaws/controllerruntime"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/thirdparty/project"
)

// untraced is a tracer that does nothing. The project has one for disabled tracing, but it is internal.
type untraced struct{}

func (untraced) StartSpan(c context.Context, _ metav1.Object, _ string, _ map[string]string) (context.Context, func()) {
	return c, func() {}
}
func (untraced) GetTraceContext(context.Context) string              { return "" }
func (untraced) AddEvent(context.Context, string, map[string]string) {}
func (untraced) IsRecording(context.Context) bool                    { return false }

func TestAgentSandbox(t *testing.T) {
	pods := []schema.GroupVersionKind{corev1.SchemeGroupVersion.WithKind("Pod")}
	in := project.Program(controllers.Scheme, v1alpha1.AddToScheme)
	project.Test(t, project.Project{Module: "sigs.k8s.io/agent-sandbox",
		Definitions: []string{"k8s/crds/*.yaml"}, Controllers: []host.Controller{
			in(host.Controller{Name: "sandbox", For: core.GroupVersion.WithKind("Sandbox"), Owns: pods},
				func(m ctrl.Manager) error {
					return (&controllers.SandboxReconciler{Client: m.GetClient(), Scheme: m.GetScheme(),
						Tracer: untraced{}}).SetupWithManager(m, 1)
				}),
			in(host.Controller{Name: "sandboxclaim", For: v1alpha1.GroupVersion.WithKind("SandboxClaim"),
				Owns: []schema.GroupVersionKind{core.GroupVersion.WithKind("Sandbox")},
				Contract: law.Contract{
					MayEdit: pods,
					Invariants: []*law.Invariant{{ID: "pods-of-pools-only",
						Sentence: "A claim changes only Pods of a pool.", When: law.AtWrite, Check: ofNoPool}},
				}}, func(m ctrl.Manager) error {
				return (&extensions.SandboxClaimReconciler{Client: m.GetClient(), Scheme: m.GetScheme(),
					Tracer: untraced{}, Recorder: m.GetEventRecorderFor("sandboxclaim-controller")}).
					SetupWithManager(m, 1)
			}),
			in(host.Controller{Name: "sandboxwarmpool", For: v1alpha1.GroupVersion.WithKind("SandboxWarmPool"),
				Owns: pods, Contract: law.Contract{Replicas: controllerruntime.Of(func(p *v1alpha1.SandboxWarmPool) int {
					return int(p.Spec.Replicas)
				})},
			}, func(m ctrl.Manager) error {
				return (&extensions.SandboxWarmPoolReconciler{Client: m.GetClient()}).SetupWithManager(m, 1)
			}),
		}})
}

// ofNoPool returns a reason if a pod's controller is not a SandboxWarmPool. A claim must not change such a pod.
func ofNoPool(f *law.Facts) string {
	if pod, ok := f.Before.(*corev1.Pod); ok {
		if ref := metav1.GetControllerOf(pod); ref != nil && ref.Kind != "SandboxWarmPool" {
			return "it is of no pool"
		}
	}
	return ""
}
