// Package kubelet simulates a kubelet without containers. It writes the status of pods: that they run, are ready, or
// have ended. It also completes their graceful deletion. Without a scheduler it can bind pods to a node. A pod without
// a node has no graceful deletion.
package kubelet

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/internal/routing"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Options are the variants of a kubelet.
type Options struct {
	// Bind is the node to which the kubelet binds pods without a node. If Bind is empty, these pods run without a node,
	// which saves one write for each pod.
	Bind string
	// Endless lets every pod run until it is deleted, even if its containers would end.
	Endless bool
	// Lifelike makes pods look as on a real node, with addresses, times, conditions, container ids and Events. No two
	// runs are equal, so use it only for servers that people use. A lifelike kubelet runs only pods with a node.
	Lifelike bool

	Without Without
}

// Without lists the guards that a mutant disables (package mutants). A comment says what the mutant then does.
type Without struct {
	UID bool // it completes a deletion by name, even if the name now belongs to a recreated pod
}

// The eras of a kubelet. The plain kubelet has none.
const (
	binding = "binding" // binds pods to a node
	endless = "endless" // lets pods run until they are deleted
	looks   = "lifelike"
)

var podKind = corev1.SchemeGroupVersion.WithKind("Pod")

// New returns a kubelet. The ownership laws do not apply to it, because it writes the status of any pod and removes
// deleted pods.
func New(o Options) host.Controller {
	era := ""
	switch {
	case o.Lifelike:
		era = looks
	case o.Bind != "":
		era = binding
	case o.Endless:
		era = endless
	}
	return host.Controller{
		Name: "kubelet", Era: era, Contract: law.Contract{Profile: law.Upstream},
		New: func(env *host.Env) host.Reconciler {
			k := &kubelet{options: &o, env: env, pods: env.Informer(podKind).GetIndexer()}
			if o.Lifelike {
				indexAddresses(k.pods)
			}
			return k
		},
		Routes: []host.Route{{Kind: podKind, Do: wake}},
	}
}

func wake(_ host.View, e host.Event, out *host.Effect) {
	if e.New != nil {
		out.Keys = append(out.Keys, routing.Key(e.New.(metav1.Object)))
	}
}

type kubelet struct {
	options *Options
	env     *host.Env
	pods    cache.Indexer

	lifelike lifelike
}

// Digest hashes nothing. Only a lifelike kubelet has memory, and exhaustive search never runs a lifelike kubelet.
func (k *kubelet) Digest(*sim.Hash) {}

// running returns a status patch that makes a pod running and ready. The patch contains no times, so a recreated pod
// gets the same status as the pod before it.
func running(pod *corev1.Pod) []byte {
	status := corev1.PodStatus{Phase: corev1.PodRunning}
	for _, t := range []corev1.PodConditionType{corev1.PodReady, corev1.ContainersReady} {
		status.Conditions = append(status.Conditions, corev1.PodCondition{Type: t, Status: corev1.ConditionTrue})
	}
	for _, c := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Ready: true,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		})
	}
	return statusPatch(pod, status)
}

func statusPatch(pod *corev1.Pod, status corev1.PodStatus) []byte {
	type meta struct {
		UID types.UID `json:"uid"`
	}
	data, err := json.Marshal(struct {
		Metadata meta             `json:"metadata"`
		Status   corev1.PodStatus `json:"status"`
	}{meta{pod.UID}, status})
	if err != nil {
		panic("kubelet: a status did not encode: " + err.Error())
	}
	return data
}

func (k *kubelet) Sync(ctx context.Context, key string) error {
	obj, exists, err := k.pods.GetByKey(key)
	if err != nil || !exists {
		return err
	}
	pod := obj.(*corev1.Pod)
	switch {
	case pod.Spec.NodeName == "" && k.options.Bind != "":
		err = k.bind(ctx, pod)
	case pod.DeletionTimestamp != nil:
		if k.options.Lifelike {
			k.stop(ctx, pod)
		}
		err = k.finish(ctx, pod)
	case k.options.Lifelike && pod.Spec.NodeName == "":
	case k.options.Lifelike && pod.Status.Phase == corev1.PodPending:
		err = k.run(ctx, pod)
	case pod.Status.Phase == corev1.PodPending:
		err = k.patchStatus(ctx, pod, running(pod))
	case pod.Status.Phase == corev1.PodRunning && !k.options.Endless:
		switch data := ended(pod); {
		case data == nil:
		case k.options.Lifelike:
			err = k.end(ctx, pod, data)
		default:
			err = k.patchStatus(ctx, pod, data)
		}
	}
	if apierrors.IsNotFound(err) || apierrors.IsInvalid(err) {
		return nil // the pod is gone or was recreated; an event will show it
	}
	return err
}

func (k *kubelet) patchStatus(ctx context.Context, pod *corev1.Pod, data []byte) error {
	_, err := k.env.Client.Patch(ctx, podKind, pod.Namespace, pod.Name,
		host.Patch{Type: types.StrategicMergePatchType, Data: data, Subresource: "status"})
	return err
}

func (k *kubelet) bind(ctx context.Context, pod *corev1.Pod) error {
	if pod.DeletionTimestamp != nil {
		return nil
	}
	_, err := k.env.Client.Do(ctx, &fakeapi.Request{
		Verb: fakeapi.Create, Kind: k.kind(podKind), Subresource: "binding", Namespace: pod.Namespace, Name: pod.Name,
		Object: &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
			Target:     corev1.ObjectReference{Kind: "Node", Name: k.options.Bind},
		},
	})
	if apierrors.IsConflict(err) {
		return nil // the pod has a node, is being deleted, or was recreated
	}
	return err
}

func (k *kubelet) kind(gvk schema.GroupVersionKind) *fakeapi.Kind {
	for _, kind := range k.env.Kinds() {
		if kind.GVK == gvk {
			return kind
		}
	}
	panic("kubelet: the server has no " + gvk.String())
}

// finish completes the graceful deletion of a pod, as if its containers had stopped. If the grace period is already
// zero, the pod only waits for finalizers, and finish does nothing.
func (k *kubelet) finish(ctx context.Context, pod *corev1.Pod) error {
	if *pod.DeletionGracePeriodSeconds == 0 {
		return nil
	}
	now := int64(0)
	guards := &metav1.Preconditions{UID: &pod.UID}
	if k.options.Without.UID {
		guards = nil
	}
	err := k.env.Client.Delete(ctx, podKind, pod.Namespace, pod.Name,
		metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: guards})
	if apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// exitCode is the annotation with the exit code of a pod's containers. The default is 0.
const exitCode = "threelaws.example/exit-code"

// serves reports whether a container has a readiness probe. Such a container waits for requests of clients.
func serves(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.ReadinessProbe != nil })
}

// ended returns a status patch that ends a running pod: simulated containers end as soon as they run. It returns nil if
// the pod's restart policy restarts the containers, or if one of them serves and no annotation has its exit code. The
// exit code decides between Succeeded and Failed. The status does not count restarts.
func ended(pod *corev1.Pod) []byte {
	text, set := pod.Annotations[exitCode]
	code, _ := strconv.Atoi(text)
	switch {
	case pod.Spec.RestartPolicy == corev1.RestartPolicyAlways,
		serves(pod) && !set,
		pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure && code != 0:
		return nil
	}
	status := corev1.PodStatus{Phase: corev1.PodSucceeded, Conditions: []corev1.PodCondition{
		{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "PodCompleted"},
		{Type: corev1.ContainersReady, Status: corev1.ConditionFalse, Reason: "PodCompleted"}}}
	reason := "Completed"
	if code != 0 {
		status.Phase, reason = corev1.PodFailed, "Error"
		for i := range status.Conditions {
			status.Conditions[i].Reason = "PodFailed"
		}
	}
	for _, c := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image,
			State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: int32(code), Reason: reason}},
		})
	}
	return statusPatch(pod, status)
}
