// Package volumeprotection is the controller that keeps a PersistentVolume until no claim is bound to it. The server
// puts a finalizer on every volume, and this controller removes it.
package volumeprotection

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

const Finalizer = "kubernetes.io/pv-protection"

var volumeKind = corev1.SchemeGroupVersion.WithKind("PersistentVolume")

// Without configures a mutant (package mutants). Each field disables one check. Its comment says what the mutant does.
type Without struct {
	Bound bool // remove the finalizer although a claim is bound to the volume
}

// New returns the controller. It creates no volumes. The binder writes into a volume's status whether a claim is bound.
func New(without Without) host.Controller {
	return host.Controller{
		Name: "persistentvolume-protection", Contract: law.Contract{Profile: law.Upstream, Finalizers: []string{Finalizer}, FinalizerReason: keeps},
		New: func(env *host.Env) host.Reconciler {
			return &controller{env: env, without: &without, volumes: env.Informer(volumeKind).GetIndexer()}
		},
		Routes: []host.Route{{Kind: volumeKind, Do: wake}},
	}
}

// keeps returns the reason why a volume stays: a claim is bound to it.
func keeps(obj runtime.Object, _ func(kind string) []runtime.Object) string {
	if v, ok := obj.(*corev1.PersistentVolume); ok && bound(v) {
		return "it is bound"
	}
	return ""
}

func bound(v *corev1.PersistentVolume) bool { return v.Status.Phase == corev1.VolumeBound }

// misplaced reports whether a volume's finalizer is missing or has to be removed.
func misplaced(v *corev1.PersistentVolume) bool {
	return slices.Contains(v.Finalizers, Finalizer) == (v.DeletionTimestamp != nil)
}

func wake(_ host.View, e host.Event, out *host.Effect) {
	if v, ok := e.New.(*corev1.PersistentVolume); ok && misplaced(v) {
		out.Keys = append(out.Keys, v.Name)
	}
}

type controller struct {
	env     *host.Env
	without *Without
	volumes cache.Indexer
}

func (c *controller) Digest(*sim.Hash) {}

// Sync removes the finalizer of a terminating unbound volume, or adds a missing one.
func (c *controller) Sync(ctx context.Context, key string) error {
	obj, exists, err := c.volumes.GetByKey(key)
	if err != nil || !exists {
		return err
	}
	v := obj.(*corev1.PersistentVolume)
	if !misplaced(v) {
		return nil
	}
	changed := *v
	switch {
	case v.DeletionTimestamp == nil:
		changed.Finalizers = append(slices.Clone(v.Finalizers), Finalizer)
	case bound(v) && !c.without.Bound:
		return nil
	default:
		changed.Finalizers = slices.DeleteFunc(slices.Clone(v.Finalizers),
			func(f string) bool { return f == Finalizer })
	}
	_, err = c.env.Client.Update(ctx, &changed)
	return err
}
