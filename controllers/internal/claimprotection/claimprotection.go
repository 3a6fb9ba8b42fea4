// Package claimprotection is the controller that keeps a PersistentVolumeClaim until no pod uses it. The server puts a
// finalizer on every claim, and this controller removes it.
package claimprotection

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/internal/routing"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

const Finalizer = "kubernetes.io/pvc-protection"

var claimKind = corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")

// Without configures a mutant (package mutants). Each field disables one check. Its comment says what the mutant does.
type Without struct {
	InUse bool // remove the finalizer from a claim that a pod uses
	Live  bool // do not ask the server whether a pod uses the claim
}

// New returns the controller. It creates no claims, and handles the claims of all owners.
func New(without Without) host.Controller {
	return host.Controller{
		Name: "persistentvolumeclaim-protection", Contract: law.Contract{Profile: law.Upstream, Finalizers: []string{Finalizer}, FinalizerReason: keeps},
		New: func(env *host.Env) host.Reconciler {
			return &controller{env: env, without: &without, claims: env.Informer(claimKind).GetIndexer(),
				pods: env.Informer(pod.Kind).GetIndexer()}
		},
		Routes: []host.Route{{Kind: claimKind, Do: wake}, {Kind: pod.Kind, Do: wakeClaims}},
	}
}

// keeps returns a description of a pod that uses the claim, or "" if no pod uses it.
func keeps(obj runtime.Object, all func(kind string) []runtime.Object) string {
	claim, ok := obj.(*corev1.PersistentVolumeClaim)
	if !ok {
		return ""
	}
	for _, p := range all(pod.Kind.Kind) {
		if p := p.(*corev1.Pod); p.Namespace == claim.Namespace && uses(p, claim) {
			return "pod/" + p.Name + " uses it"
		}
	}
	return ""
}

// wake enqueues a claim whose finalizer is missing or has to be removed.
func wake(_ host.View, e host.Event, out *host.Effect) {
	claim, ok := e.New.(*corev1.PersistentVolumeClaim)
	if ok && held(claim) == (claim.DeletionTimestamp != nil) {
		out.Keys = append(out.Keys, routing.Key(claim))
	}
}

// wakeClaims enqueues the claims of a pod that is gone, has ended, has no node, or was recreated.
func wakeClaims(_ host.View, e host.Event, out *host.Effect) {
	p, ok := e.New.(*corev1.Pod)
	if !ok || pod.Ended(p) || p.Spec.NodeName == "" {
		if !ok {
			p = e.Old.(*corev1.Pod)
		}
		eachClaim(p, out)
	}
	if old, was := e.Old.(*corev1.Pod); was && old.UID != p.UID {
		eachClaim(old, out)
	}
}

func eachClaim(p *corev1.Pod, out *host.Effect) {
	for i := range p.Spec.Volumes {
		if name := claimOf(p, &p.Spec.Volumes[i]); name != "" {
			out.Keys = append(out.Keys, p.Namespace+"/"+name)
		}
	}
}

func claimOf(p *corev1.Pod, v *corev1.Volume) string {
	switch {
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName
	case v.Ephemeral != nil:
		return p.Name + "-" + v.Name
	}
	return ""
}

func held(claim *corev1.PersistentVolumeClaim) bool {
	return slices.Contains(claim.Finalizers, Finalizer)
}

type controller struct {
	env     *host.Env
	without *Without
	claims  cache.Indexer
	pods    cache.Indexer
}

func (c *controller) Digest(*sim.Hash) {}

// Sync removes the finalizer from an unused terminating claim, or adds it to a claim that is not terminating.
func (c *controller) Sync(ctx context.Context, key string) error {
	obj, exists, err := c.claims.GetByKey(key)
	if err != nil || !exists {
		return err
	}
	claim := obj.(*corev1.PersistentVolumeClaim)
	if held(claim) != (claim.DeletionTimestamp != nil) {
		return nil
	}
	changed := *claim
	if claim.DeletionTimestamp == nil {
		changed.Finalizers = append(slices.Clone(claim.Finalizers), Finalizer)
	} else {
		if used, err := c.used(ctx, claim); err != nil || used {
			return err
		}
		changed.Finalizers = slices.DeleteFunc(slices.Clone(claim.Finalizers),
			func(f string) bool { return f == Finalizer })
	}
	_, err = c.env.Client.Update(ctx, &changed)
	return err
}

// used reports whether a pod uses a claim. The cache may lack a new pod, so used also lists the pods from the server.
func (c *controller) used(ctx context.Context, claim *corev1.PersistentVolumeClaim) (bool, error) {
	if c.without.InUse {
		return false, nil
	}
	for _, p := range pod.In(c.pods, claim.Namespace) {
		if uses(p, claim) {
			return true, nil
		}
	}
	if c.without.Live {
		return false, nil
	}
	live, err := c.env.Client.List(ctx, pod.Kind, claim.Namespace, metav1.ListOptions{})
	return slices.ContainsFunc(live, func(p runtime.Object) bool {
		return uses(p.(*corev1.Pod), claim)
	}), err
}

// uses reports whether a pod uses a terminating claim. A pod without a node does not use it, because no kubelet starts
// a pod with a terminating claim. A pod's own ephemeral claim is in use until the pod's grace period is zero. Any other
// claim is in use until the pod is gone.
func uses(p *corev1.Pod, claim *corev1.PersistentVolumeClaim) bool {
	if p.Spec.NodeName == "" {
		return false
	}
	done := p.DeletionGracePeriodSeconds != nil && *p.DeletionGracePeriodSeconds == 0
	return slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
		return claimOf(p, &v) == claim.Name &&
			(v.Ephemeral == nil || !done && metav1.IsControlledBy(claim, p))
	})
}
