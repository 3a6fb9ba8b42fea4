// Package endpointslice is the EndpointSlice controller: for each Service with a selector it keeps slices with the
// addresses of the selected Pods.
//
// It reads Pods and owns slices. It finds a Service's slices by two labels and the owner's uid (RULES L115). Upstream
// deletes slices with these labels and another owner. This controller leaves them to the garbage collector. The server
// generates the names of slices. So with a late cache, a second slice could be created. To prevent this, the controller
// tracks its writes.
//
// It computes hints for a Service's traffic distribution, but no topology-aware hints (which need an annotation).
package endpointslice

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/internal/ref"
	"github.com/threelaws/threelaws/controllers/internal/routing"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

var (
	serviceKind = corev1.SchemeGroupVersion.WithKind("Service")
	podKind     = corev1.SchemeGroupVersion.WithKind("Pod")
	nodeKind    = corev1.SchemeGroupVersion.WithKind("Node")
	sliceKind   = discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice")
)

const (
	manager = "endpointslice-controller.k8s.io" // the value of the label that names a slice's manager
	// settleDown delays a reconcile after another writer has changed a slice, to batch changes.
	settleDown = time.Second
)

// New returns the controller. It routes events of slices by its memory of writes. Therefore the routing laws for
// claiming controllers do not apply.
func New(without Without) host.Controller {
	return host.Controller{
		Name: "endpointslice", Contract: law.Contract{Profile: law.Writing,
			Replicas: wanted, Active: found},
		For: serviceKind, Owns: []schema.GroupVersionKind{sliceKind},
		Backoff: host.Backoff{First: time.Second, Longest: 1000 * time.Second},
		New:     func(env *host.Env) host.Reconciler { return newReconciler(&without, env) },
		Routes: []host.Route{
			{Kind: serviceKind, Do: wakeService}, {Kind: podKind, Do: wakeForPod}, {Kind: nodeKind, Do: wakeForNode},
		},
	}
}

// wanted returns the number of slices of a Service, one per address family. It assumes that the Pods fit into one
// slice. It returns -1, for unknown, if the Pods' ports may differ, or if the controller makes no slices.
func wanted(owner runtime.Object) int {
	svc := owner.(*corev1.Service)
	if !selects(svc) {
		return -1
	}
	for i := range svc.Spec.Ports {
		if svc.Spec.Ports[i].TargetPort.Type == intstr.String {
			return -1
		}
	}
	return len(families(svc))
}

// found reports whether the controller finds a slice by its labels. Otherwise the controller creates another slice.
func found(dependent runtime.Object) bool {
	slice := dependent.(*discoveryv1.EndpointSlice)
	owner := metav1.GetControllerOfNoCopy(slice)
	return owner != nil && slice.Labels[discoveryv1.LabelServiceName] == owner.Name &&
		slice.Labels[discoveryv1.LabelManagedBy] == manager
}

// selects reports whether the controller makes slices for a Service: if it has a selector and is not of type
// ExternalName. Slices of other Services have other managers.
func selects(svc *corev1.Service) bool {
	return svc.Spec.Type != corev1.ServiceTypeExternalName && svc.Spec.Selector != nil
}

// reconciler remembers its writes, the change times that it has reported, and the Services that wait for the cache.
type reconciler struct {
	env      *host.Env
	without  *Without
	services cache.Indexer
	pods     cache.Indexer
	nodes    cache.Indexer
	slices   cache.Indexer
	written  tracker
	told     triggers
	waiting  map[string]bool
}

func newReconciler(without *Without, env *host.Env) *reconciler {
	pods := env.Informer(podKind).GetIndexer()
	pod.IndexLabels(pods)
	r := &reconciler{env: env, without: without,
		services: env.Informer(serviceKind).GetIndexer(), pods: pods,
		nodes: env.Informer(nodeKind).GetIndexer(), slices: env.Informer(sliceKind).GetIndexer(),
		written: tracker{}, told: triggers{}, waiting: map[string]bool{}}
	_, err := env.Informer(sliceKind).AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { r.sliceShown(nil, obj.(*discoveryv1.EndpointSlice)) },
		UpdateFunc: func(old, cur any) {
			r.sliceShown(old.(*discoveryv1.EndpointSlice), cur.(*discoveryv1.EndpointSlice))
		},
		DeleteFunc: r.sliceGone,
	})
	if err != nil {
		panic("endpointslice: no handler can be added: " + err.Error())
	}
	return r
}

func (r *reconciler) Digest(h *sim.Hash) {
	r.written.digest(h)
	r.told.digest(h)
	for _, key := range r.Waiting() {
		h.String(key)
	}
}

// Sync updates the slices of one Service to match its Pods. If the cache does not show earlier writes yet, Sync does
// nothing, and the event that shows them enqueues the Service. Upstream fails and retries.
func (r *reconciler) Sync(ctx context.Context, key string) error {
	obj, exists, err := r.services.GetByKey(key)
	if err != nil {
		return err
	}
	if !exists {
		r.written.forget(key)
		r.told.forget(key)
		delete(r.waiting, key)
		return nil
	}
	svc := obj.(*corev1.Service)
	if !selects(svc) {
		return nil
	}
	have := r.slicesOf(svc)
	if !r.without.Stale {
		r.waiting[key] = true // set first, because an event of a slice during the check must requeue the Service
		stale, err := r.behind(ctx, key, svc.Namespace, have)
		if stale || err != nil {
			return err
		}
		delete(r.waiting, key)
	}
	have = slices.DeleteFunc(have, func(s *discoveryv1.EndpointSlice) bool {
		return !ownedBy(s, svc) && !r.without.OwnerUID
	})
	pods := r.podsOf(svc)
	return r.reconcile(ctx, svc, pods, have, r.told.trigger(key, svc, pods))
}

func (r *reconciler) podsOf(svc *corev1.Service) []*corev1.Pod {
	return slices.DeleteFunc(pod.Labelled(r.pods, svc.Namespace, svc.Spec.Selector),
		func(p *corev1.Pod) bool { return !ref.Contains(p.Labels, svc.Spec.Selector) })
}

// slicesOf returns the controller's slices for Services with svc's name. It skips terminating slices, because a
// finalizer may keep them for long.
func (r *reconciler) slicesOf(svc *corev1.Service) (found []*discoveryv1.EndpointSlice) {
	for _, obj := range list(r.slices, svc.Namespace) {
		s := obj.(*discoveryv1.EndpointSlice)
		if managed(s) && s.Labels[discoveryv1.LabelServiceName] == svc.Name &&
			(s.DeletionTimestamp == nil || r.without.Dying) {
			found = append(found, s)
		}
	}
	return found
}

func ownedBy(s *discoveryv1.EndpointSlice, svc *corev1.Service) bool {
	for i := range s.OwnerReferences {
		if o := &s.OwnerReferences[i]; o.UID == svc.UID && o.Kind == serviceKind.Kind && o.APIVersion == "v1" {
			return true
		}
	}
	return false
}

func list(indexer cache.Indexer, namespace string) []any {
	objs, err := indexer.ByIndex(cache.NamespaceIndex, namespace)
	if err != nil {
		panic("endpointslice: " + err.Error())
	}
	return objs
}

// Without configures a mutant (package mutants). Each field disables one check. Its comment says what the mutant does.
type Without struct {
	TakeOwned   bool // create slices without a reference to their Service
	OwnerUID    bool // let a Service take the slices of an earlier Service with its name
	Stale       bool // reconcile before the cache shows earlier writes
	Lost        bool // wait for a written slice that is gone
	Version     bool // update slices without a resourceVersion
	Dying       bool // wait for a terminating slice
	Children    bool // ignore changes and deletions of slices by others
	Terminating bool // create slices for a terminating Service
}

func wakeService(_ host.View, e host.Event, out *host.Effect) {
	obj := e.New
	if obj == nil {
		obj = e.Old
	}
	out.Keys = append(out.Keys, routing.Key(obj.(metav1.Object)))
}

// wakeForPod enqueues the Services that select a changed Pod or selected it before the change.
func wakeForPod(v host.View, e host.Event, out *host.Effect) {
	old, _ := e.Old.(*corev1.Pod)
	cur, _ := e.New.(*corev1.Pod)
	changed, moved := true, false
	if old != nil && cur != nil {
		if old.ResourceVersion == cur.ResourceVersion {
			return
		}
		changed, moved = toldOtherwise(old, cur), moves(old, cur)
	}
	if !changed && !moved {
		return
	}
	pod := cur
	if pod == nil {
		pod = old
	}
	v.Each(serviceKind, pod.Namespace, func(obj runtime.Object) bool {
		svc := obj.(*corev1.Service)
		if svc.Spec.Selector == nil {
			return true
		}
		is := ref.Contains(pod.Labels, svc.Spec.Selector)
		was := moved && ref.Contains(old.Labels, svc.Spec.Selector)
		if is != was || changed && is {
			out.Keys = append(out.Keys, routing.Key(svc))
		}
		return true
	})
}

// wakeForNode enqueues the Services that may lack Pods of a new node: the controller leaves out a Pod while its node is
// unknown. Upstream retries after some time.
func wakeForNode(v host.View, e host.Event, out *host.Effect) {
	if e.Old != nil {
		return
	}
	node := e.New.(*corev1.Node)
	v.Each(podKind, "", func(obj runtime.Object) bool {
		if pod := obj.(*corev1.Pod); pod.Spec.NodeName == node.Name {
			wakeLeftOut(v, pod, out)
		}
		return true
	})
}

// wakeLeftOut enqueues the Services that leave out a Pod while its node is unknown. A Service with
// publishNotReadyAddresses leaves out no Pod.
func wakeLeftOut(v host.View, pod *corev1.Pod, out *host.Effect) {
	v.Each(serviceKind, pod.Namespace, func(obj runtime.Object) bool {
		svc := obj.(*corev1.Service)
		if svc.Spec.Selector != nil && !svc.Spec.PublishNotReadyAddresses &&
			ref.Contains(pod.Labels, svc.Spec.Selector) {
			out.Keys = append(out.Keys, routing.Key(svc))
		}
		return true
	})
}
