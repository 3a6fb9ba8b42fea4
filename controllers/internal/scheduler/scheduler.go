// Package scheduler binds each pod to the eligible node with the fewest pods. It respects the number of pods that a
// node can hold, and ignores other resources, preferences and priorities.
package scheduler

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/internal/placement"
	"github.com/threelaws/threelaws/controllers/internal/routing"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// room is the number of pods that a node can hold if its status reports no number. It is a kubelet's default.
const room = 110

var (
	podKind  = corev1.SchemeGroupVersion.WithKind("Pod")
	nodeKind = corev1.SchemeGroupVersion.WithKind("Node")
)

// New returns the scheduler. The ownership laws do not apply to it, because it binds any pod.
func New() host.Controller {
	return host.Controller{
		Name: "scheduler", Contract: law.Contract{Profile: law.Upstream},
		New: func(env *host.Env) host.Reconciler {
			pods := env.Informer(podKind).GetIndexer()
			if err := pods.AddIndexers(cache.Indexers{byNode: nodeOf, unplaced: uidOfUnplaced}); err != nil {
				panic("scheduler: " + err.Error())
			}
			return &scheduler{env: env, pods: pods, nodes: env.Informer(nodeKind).GetIndexer(),
				bound: map[string]binding{}}
		},
		Routes: []host.Route{{Kind: podKind, Do: podChanged}, {Kind: nodeKind, Do: nodeChanged}},
	}
}

// podChanged enqueues a pod that waits for a node. If the pod frees a place on a node, it enqueues all waiting pods.
func podChanged(v host.View, e host.Event, out *host.Effect) {
	if e.New != nil && waiting(e.New.(*corev1.Pod)) {
		out.Keys = append(out.Keys, routing.Key(e.New.(metav1.Object)))
	}
	if e.Old != nil && counts(e.Old.(*corev1.Pod)) && (e.New == nil || !counts(e.New.(*corev1.Pod))) {
		wake(v, out)
	}
}

func nodeChanged(v host.View, e host.Event, out *host.Effect) {
	if e.New != nil {
		wake(v, out)
	}
}

func wake(v host.View, out *host.Effect) {
	v.Each(podKind, "", func(obj runtime.Object) bool {
		if waiting(obj.(*corev1.Pod)) {
			out.Keys = append(out.Keys, routing.Key(obj.(metav1.Object)))
		}
		return true
	})
}

func waiting(pod *corev1.Pod) bool {
	return pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && !ended(pod) &&
		pod.Spec.SchedulerName == corev1.DefaultSchedulerName && len(pod.Spec.SchedulingGates) == 0
}

const byNode = "node"

func nodeOf(obj any) ([]string, error) {
	if pod := obj.(*corev1.Pod); counts(pod) {
		return []string{pod.Spec.NodeName}, nil
	}
	return nil, nil
}

const unplaced = "unplaced"

func uidOfUnplaced(obj any) ([]string, error) {
	if pod := obj.(*corev1.Pod); pod.Spec.NodeName == "" {
		return []string{string(pod.UID)}, nil
	}
	return nil, nil
}

func counts(pod *corev1.Pod) bool { return pod.Spec.NodeName != "" && !ended(pod) }

func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// scheduler holds its bindings until the cache shows them, so that two pods do not get the last free place of a node.
type scheduler struct {
	env   *host.Env
	pods  cache.Indexer
	nodes cache.Indexer
	bound map[string]binding // the bindings that the cache does not show yet, by the pod's key
}

type binding struct {
	uid  types.UID
	node string
}

func (s *scheduler) Digest(h *sim.Hash) {
	for _, key := range slices.Sorted(maps.Keys(s.bound)) {
		h.String(string(s.bound[key].uid))
		h.String(s.bound[key].node)
	}
}

// Sync finds a node for one pod. A pod that fits nowhere waits for a change.
func (s *scheduler) Sync(ctx context.Context, key string) error {
	obj, exists, err := s.pods.GetByKey(key)
	if err != nil || !exists || !waiting(obj.(*corev1.Pod)) {
		return err
	}
	pod := obj.(*corev1.Pod)
	if s.bound[key].uid == pod.UID {
		return nil
	}
	if node := s.choose(&pod.Spec); node != "" {
		return s.bind(ctx, pod, node)
	}
	return nil
}

// choose returns the eligible node with the fewest pods, or "". Among equal nodes it returns the first by name.
func (s *scheduler) choose(spec *corev1.PodSpec) string {
	have := s.load()
	var fit []string
	for _, obj := range s.nodes.List() {
		if node := obj.(*corev1.Node); have[node.Name] < capacity(node) && admits(node, spec) {
			fit = append(fit, node.Name)
		}
	}
	if len(fit) == 0 {
		return ""
	}
	return slices.MinFunc(fit, func(a, b string) int {
		return cmp.Or(cmp.Compare(have[a], have[b]), strings.Compare(a, b))
	})
}

// load returns the number of pods on each node, including bindings that the cache does not show yet.
func (s *scheduler) load() map[string]int64 {
	have := map[string]int64{}
	for _, node := range s.pods.ListIndexFuncValues(byNode) {
		pods, err := s.pods.IndexKeys(byNode, node)
		if err != nil {
			panic("scheduler: " + err.Error())
		}
		have[node] = int64(len(pods))
	}
	for _, key := range slices.Sorted(maps.Keys(s.bound)) {
		if s.pending(s.bound[key].uid) {
			have[s.bound[key].node]++
		} else {
			delete(s.bound, key)
		}
	}
	return have
}

// pending reports whether the cache still shows the pod with this uid as unbound.
func (s *scheduler) pending(uid types.UID) bool {
	keys, err := s.pods.IndexKeys(unplaced, string(uid))
	if err != nil {
		panic("scheduler: " + err.Error())
	}
	return len(keys) > 0
}

func capacity(node *corev1.Node) int64 {
	if n, told := node.Status.Allocatable[corev1.ResourcePods]; told {
		return n.Value()
	}
	return room
}

func admits(node *corev1.Node, spec *corev1.PodSpec) bool {
	cordon := &corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	if node.Spec.Unschedulable && !placement.Tolerated(cordon, spec.Tolerations) {
		return false
	}
	return placement.Selected(spec, node) &&
		!placement.Untolerated(node, spec.Tolerations, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute)
}

// bind binds a pod to a node. If the server answers 404 or 409, the pod is gone, has a node, is terminating or was
// recreated. This is no error, because an event will show it.
func (s *scheduler) bind(ctx context.Context, pod *corev1.Pod, node string) error {
	s.bound[routing.Key(pod)] = binding{pod.UID, node}
	_, err := s.env.Client.Do(ctx, &fakeapi.Request{
		Verb: fakeapi.Create, Kind: s.kind(podKind), Subresource: "binding", Namespace: pod.Namespace, Name: pod.Name,
		Object: &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
			Target:     corev1.ObjectReference{Kind: "Node", Name: node},
		},
	})
	if err != nil {
		delete(s.bound, routing.Key(pod))
	}
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func (s *scheduler) kind(gvk schema.GroupVersionKind) *fakeapi.Kind {
	for _, kind := range s.env.Kinds() {
		if kind.GVK == gvk {
			return kind
		}
	}
	panic("scheduler: the server has no " + gvk.String())
}
