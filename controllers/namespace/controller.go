// Package namespace is the namespace controller: it empties a namespace that is
// being deleted, and then lets it go by taking the finalizer "kubernetes" off
// its spec (RULES L111).
//
// It reads everything from the server. Pods go first, and alone: while one is
// left, what it may need to stop in good order stays (KEP-5080). What has
// finalizers is waited for; what has none and is there still is an error.
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

// grace is how long the controller waits after each event on a namespace that
// is being deleted: every API server is to know of the deletion by then, and to
// refuse what would be created in it.
const grace = 5 * time.Second

// New returns the controller. It declares no kind of its own, as the laws of
// ownership do not concern it: it deletes whatever is there, whoever owns it.
func New(without Without) host.Controller {
	return host.Controller{
		Name: "namespace", Contract: law.Contract{Profile: law.Upstream,
			FinalizerReason: keeps},
		Backoff: host.Backoff{First: 5 * time.Millisecond, Longest: time.Minute},
		New:     func(env *host.Env) host.Reconciler { return newController(&without, env) },
		Routes:  []host.Route{{Kind: namespaceKind, Do: wake}},
	}
}

// keeps says why a namespace stays when it has been emptied: others have finalizers in its
// spec, which they take off themselves.
func keeps(obj runtime.Object, _ func(kind string) []runtime.Object) string {
	ns, ok := obj.(*corev1.Namespace)
	if !ok || len(ns.Spec.Finalizers) == 0 || slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes) {
		return ""
	}
	return "finalizers of others hold it"
}

// wake wakes a namespace that is being deleted.
func wake(_ host.View, e host.Event, out *host.Effect) {
	if ns, ok := e.New.(*corev1.Namespace); ok && ns.DeletionTimestamp != nil {
		out.Delayed = append(out.Delayed, host.Delayed{Key: ns.Name, After: grace})
	}
}

// controller has no memory.
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

// others lists what lives in namespaces beside pods. It is asked at every sync:
// definitions come while the controller runs.
func (c *controller) others() []*fakeapi.Kind {
	var kinds []*fakeapi.Kind
	for _, k := range c.env.Kinds() {
		if k.GVK != podKind && k.Namespaced {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// Digest has nothing to fold.
func (c *controller) Digest(*sim.Hash) {}

// Sync goes on with the deletion of one namespace.
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
		return nil // it is a successor, or others have to let it go
	}
	var left contents
	err = c.empty(ctx, ns, &left)
	c.writeStatus(ctx, ns, &left)
	switch {
	case err != nil && !c.without.Errors:
		return err
	case left.wait > 0 && !c.without.Waiting:
		// Half of what the slowest is thought to need.
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

// writeStatus says in the namespace's conditions how far the deletion is. They
// are for people to read: that they could not be written, as the namespace has
// changed since it was read, holds nothing up.
func (c *controller) writeStatus(ctx context.Context, ns *corev1.Namespace, left *contents) {
	updated := *ns
	var changed bool
	updated.Status.Conditions, changed = conditions(ns.Status.Conditions, left, c.env.Now())
	if changed {
		_, _ = c.env.Client.UpdateStatus(ctx, &updated)
	}
}

// finalize takes the finalizer off a namespace that has been emptied. After a
// conflict it looks again, and does not touch another namespace of that name:
// nobody asked for that one's deletion.
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

// ofOthers are the finalizers without the controller's own: each once, in the order of
// their names.
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

// Without names guards to disable; see package mutants. The zero value keeps all. One place checks each guard.
type Without struct {
	PodsFirst   bool // everything is deleted at once
	PodsUnknown bool // ... when it is not known whether pods are left
	Waiting     bool // a namespace is let go although something in it is left
	Errors      bool // ... although it is not known what is
	Terminating bool // a namespace that nobody deletes is emptied, too
	Incarnation bool // a namespace that took the name meanwhile is let go instead
}
