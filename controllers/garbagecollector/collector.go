package garbagecollector

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// New returns the garbage collector. It has no kind of its own: its keys are
// "delete UID", "orphan UID" and "report UID OWNERUID".
func New(without Without) host.Controller {
	return host.Controller{
		Name: "garbagecollector", Contract: law.Contract{Profile: law.Upstream},
		New: func(env *host.Env) host.Reconciler { return newCollector(&without, env) },
	}
}

// collector is the garbage collector's memory: its graph.
type collector struct {
	env     *host.Env
	graph   *graph
	without *Without
	kinds   map[kindName]*fakeapi.Kind         // what is served, by any version
	current map[schema.GroupKind]*fakeapi.Kind // the same, whatever the version
	watched map[watching]bool

	complaints map[string]complaint // by dependent's and owner's uid
}

type kindName struct{ apiVersion, kind string }

// watching is what is watched: a kind of some resource, in whichever version. A name may
// come back with another definition.
type watching struct {
	resource schema.GroupResource
	kind     string
}

func newCollector(without *Without, env *host.Env) *collector {
	c := &collector{env: env, graph: newGraph(without), without: without, watched: map[watching]bool{},
		complaints: map[string]complaint{}}
	c.graph.look = func(n *node) { env.Queue.Add("delete " + string(n.uid)) }
	c.graph.orphan = func(n *node) { env.Queue.Add("orphan " + string(n.uid)) }
	c.graph.complain = c.complain
	c.discover()
	return c
}

// definitions is the kind whose objects define others.
const definitions = "CustomResourceDefinition"

// discover watches the kinds that are not watched yet: all at the start, then
// those of each definition as it is seen. Those that are not served any more it
// forgets. The real collector asks the server every 30 seconds what kinds there are.
func (c *collector) discover() {
	c.kinds, c.current = map[kindName]*fakeapi.Kind{}, map[schema.GroupKind]*fakeapi.Kind{}
	for _, k := range c.env.Kinds() {
		c.current[k.GVK.GroupKind()] = k
		w := watching{k.GVR().GroupResource(), k.GVK.Kind}
		if k.GVK.Kind == "Event" || c.watched[w] {
			continue // of events there are too many, and they own nothing (RULES K109)
		}
		c.watched[w] = true
		if _, err := c.env.Informer(k.GVK).AddEventHandler(c.handler(k.GVK)); err != nil {
			panic("garbagecollector: no handler for " + k.GVK.String() + ": " + err.Error())
		}
	}
	for _, k := range c.env.Served() {
		c.kinds[kindName{k.GVK.GroupVersion().String(), k.GVK.Kind}] = c.current[k.GVK.GroupKind()]
	}
}

// kind is what is served of an identity's kind, nil for nothing. An object that was seen
// is of a kind whose other versions show it too, when the one in which it was seen is
// not served any more; what a reference says is taken as it is said.
func (c *collector) kind(id identity) *fakeapi.Kind {
	k := c.kinds[kindName{id.apiVersion, id.kind}]
	if k != nil && !(c.without.OtherVersions && k.GVK.GroupVersion().String() != id.apiVersion) {
		return k
	}
	if n := c.graph.nodes[id.uid]; n != nil && !n.virtual && n.identity == id {
		return c.current[schema.FromAPIVersionAndKind(id.apiVersion, id.kind).GroupKind()]
	}
	return nil
}

// handler feeds the graph with the events on one kind.
func (c *collector) handler(gvk schema.GroupVersionKind) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			c.graph.observed(gvk, nil, obj.(metav1.Object))
			c.defined(gvk)
		},
		UpdateFunc: func(old, obj any) {
			before, after := old.(metav1.Object), obj.(metav1.Object)
			if before.GetUID() != after.GetUID() {
				// Deleted and created again between two events.
				c.graph.removed(before)
				before = nil
			}
			c.graph.observed(gvk, before, after)
			c.defined(gvk)
		},
		DeleteFunc: func(obj any) {
			if t, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = t.Obj
			}
			c.graph.removed(obj.(metav1.Object))
			c.defined(gvk)
		},
	}
}

// defined is told of the kind of each object that came, changed or went.
func (c *collector) defined(gvk schema.GroupVersionKind) {
	if gvk.Kind == definitions {
		c.discover()
	}
}

// Sync does one piece of work.
func (c *collector) Sync(ctx context.Context, key string) error {
	if about, ok := isReport(key); ok {
		c.report(ctx, about)
		return nil
	}
	work, uid, _ := strings.Cut(key, " ")
	n := c.graph.nodes[types.UID(uid)]
	if n == nil {
		return nil // it has gone by itself
	}
	switch work {
	case "orphan":
		return c.orphan(ctx, n)
	case "delete":
		return c.collect(ctx, n)
	}
	panic("garbagecollector: no such work: " + key)
}

// Digest digests the graph.
func (c *collector) Digest(h *sim.Hash) { c.graph.digest(h) }

// kindError says that an identity is of a kind that is not served. It may come
// to be, so the work is tried again, for ever (RULES K96).
type kindError struct{ id identity }

func (e *kindError) Error() string {
	return fmt.Sprintf("no matches for kind %q in version %q", e.id.kind, e.id.apiVersion)
}

// scope returns the kind of an identity and the namespace to look in.
func (c *collector) scope(id identity) (*fakeapi.Kind, string, error) {
	k := c.kind(id)
	if k == nil {
		return nil, "", &kindError{id}
	}
	switch {
	case k.Namespaced:
		return k, id.namespace, nil
	case c.without.Scope && id.namespace != "": // a path that no server has
		return nil, "", apierrors.NewNotFound(schema.GroupResource{Group: k.GVK.Group, Resource: k.Resource}, id.name)
	}
	return k, "", nil
}

// unserved reports whether an answer says that the server does not know the path, and
// nothing of an object: no name stands in it. Who answers in a server's place may leave
// out the details altogether.
func unserved(err error) bool {
	var answer apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &answer) {
		return false
	}
	about := answer.Status().Details
	return about == nil || about.Name == ""
}

// get reads an object from the server. A kind may cease to be served before the
// collector is told: that its path is not found does not make the object absent.
// Upstream takes it for that, until it has discovered anew.
func (c *collector) get(ctx context.Context, id identity) (metav1.Object, error) {
	k, namespace, err := c.scope(id)
	if err != nil {
		return nil, err
	}
	obj, err := c.env.Client.Get(ctx, k.GVK, namespace, id.name)
	if unserved(err) && !c.without.Unserved {
		return nil, &kindError{id}
	}
	if err != nil {
		return nil, err
	}
	return obj.(metav1.Object), nil
}
