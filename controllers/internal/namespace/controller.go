// Package namespace is the namespace controller: it empties a terminating namespace, and then removes the finalizer
// "kubernetes" from its spec (RULES L111).
//
// It reads everything from the server. It deletes pods first, because pods may need other objects to stop cleanly
// (KEP-5080). It waits for objects with finalizers. A remaining object without a finalizer is an error.
package namespace

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

var (
	namespaceKind = corev1.SchemeGroupVersion.WithKind("Namespace")
	podKind       = corev1.SchemeGroupVersion.WithKind("Pod")
)

// grace is the time from an event on a terminating namespace to the reconcile. After this time every API server knows
// of the deletion and refuses new objects.
const grace = 5 * time.Second

// New returns the controller. The ownership laws do not apply to it, because it deletes everything.
func New(without Without) host.Controller {
	return host.Controller{
		Name: "namespace", Contract: law.Contract{Profile: law.Upstream,
			FinalizerReason: keeps},
		Backoff: host.Backoff{First: 5 * time.Millisecond, Longest: time.Minute},
		New:     func(env *host.Env) host.Reconciler { return newController(&without, env) },
		Routes:  []host.Route{{Kind: namespaceKind, Do: wake}},
	}
}

// keeps returns the reason if finalizers of other programs keep a namespace whose spec lacks the finalizer
// "kubernetes". Otherwise it returns "".
func keeps(obj runtime.Object, _ func(kind string) []runtime.Object) string {
	ns, ok := obj.(*corev1.Namespace)
	if !ok || len(ns.Spec.Finalizers) == 0 || slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes) {
		return ""
	}
	return "finalizers of others hold it"
}

func wake(_ host.View, e host.Event, out *host.Effect) {
	if ns, ok := e.New.(*corev1.Namespace); ok && ns.DeletionTimestamp != nil {
		out.Delayed = append(out.Delayed, host.Delayed{Key: ns.Name, After: grace})
	}
}

type controller struct {
	env        *host.Env
	without    *Without
	namespaces cache.Indexer
	namespace  *fakeapi.Kind
	pods       *fakeapi.Kind
}

func newController(without *Without, env *host.Env) *controller {
	c := &controller{env: env, without: without, namespaces: env.Informer(namespaceKind).GetIndexer()}
	for _, k := range env.Kinds() {
		switch k.GVK {
		case namespaceKind:
			c.namespace = k
		case podKind:
			c.pods = k
		}
	}
	return c
}

// others lists the kinds of namespaced objects other than pods. Each reconcile calls it, because CRDs may be added.
func (c *controller) others() []*fakeapi.Kind {
	var kinds []*fakeapi.Kind
	for _, k := range c.env.Kinds() {
		if k.GVK != podKind && k.Namespaced {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

func (c *controller) Digest(*sim.Hash) {}

func (c *controller) Sync(ctx context.Context, key string) error {
	if _, exists, err := c.namespaces.GetByKey(key); err != nil || !exists {
		return err
	}
	ns, err := c.get(ctx, key)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if ns.DeletionTimestamp == nil && !c.without.Terminating || len(ns.Spec.Finalizers) == 0 {
		return nil // the namespace was recreated, or its spec has no finalizers
	}
	var left contents
	err = c.empty(ctx, ns, &left)
	c.writeStatus(ctx, ns, &left)
	switch {
	case err != nil && !c.without.Errors:
		return err
	case left.wait > 0 && !c.without.Waiting:
		// Wait for about half of the time after which the remaining objects may be gone.
		c.env.Queue.AddAfter(key, left.wait.Truncate(2*time.Second)/2+time.Second)
		return nil
	}
	return c.finalize(ctx, ns)
}

func (c *controller) get(ctx context.Context, name string) (*corev1.Namespace, error) {
	obj, err := c.env.Client.Get(ctx, namespaceKind, "", name)
	if err != nil {
		return nil, err
	}
	return obj.(*corev1.Namespace), nil
}

// writeStatus writes the namespace's conditions. It ignores errors, because only people read the conditions.
func (c *controller) writeStatus(ctx context.Context, ns *corev1.Namespace, left *contents) {
	updated := *ns
	var changed bool
	updated.Status.Conditions, changed = conditions(ns.Status.Conditions, left, c.env.Now())
	if changed {
		_, _ = c.env.Client.UpdateStatus(ctx, &updated)
	}
}

// finalize removes the finalizer "kubernetes" from a namespace. After a conflict it reads the namespace again. If the
// namespace was recreated, finalize returns an error.
func (c *controller) finalize(ctx context.Context, ns *corev1.Namespace) error {
	for {
		updated := *ns
		updated.Spec.Finalizers = ofOthers(ns.Spec.Finalizers)
		_, err := c.env.Client.Do(ctx, &fakeapi.Request{
			Verb: fakeapi.Update, Kind: c.namespace, Subresource: "finalize", Name: ns.Name, Object: &updated,
		})
		if !apierrors.IsConflict(err) {
			return ignoreGone(err)
		}
		latest, err := c.get(ctx, ns.Name)
		if err != nil {
			return ignoreGone(err)
		}
		if latest.UID != ns.UID && !c.without.Incarnation {
			return fmt.Errorf("namespace %s is another now: uid %s, was %s", ns.Name, latest.UID, ns.UID)
		}
		ns = latest
	}
}

// ofOthers returns the finalizers of other programs, sorted and without duplicates.
func ofOthers(finalizers []corev1.FinalizerName) []corev1.FinalizerName {
	rest := slices.DeleteFunc(slices.Clone(finalizers), func(f corev1.FinalizerName) bool {
		return f == corev1.FinalizerKubernetes
	})
	slices.Sort(rest)
	return slices.Compact(rest)
}

func ignoreGone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// Without configures a mutant (package mutants). Each field disables one check. Its comment says what the mutant does.
type Without struct {
	PodsFirst   bool // delete pods and all other kinds at the same time
	PodsUnknown bool // delete other kinds even if pods may be left
	Waiting     bool // finalize a namespace that is not empty
	Errors      bool // finalize a namespace although the list of remaining objects is incomplete
	Terminating bool // also empty a namespace that is not terminating
	Incarnation bool // finalize a recreated namespace with the same name
}
