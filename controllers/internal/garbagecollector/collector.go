// Package garbagecollector implements the garbage collector. It deletes objects whose owners are all gone, and carries
// out the deletion policies foreground and orphan. It treats ControllerRefs like other references (ORPHAN-4).
//
// It watches every kind and keeps a graph of references, keyed by uid (graph.go). Events change the graph and queue
// work. "delete UID" checks whether to delete an object (collect.go). "orphan UID" orphans an object's dependents and
// then removes its finalizer. "report UID OWNERUID" writes an Event about a reference into another namespace
// (write.go). The graph lags behind the server, so it only determines which objects to check. Actions rely on reads
// from the server. Every delete carries the uid that was read, and its first try also the version (GC-5, GC-9).
package garbagecollector

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// New returns the garbage collector. Its queue keys are "delete UID", "orphan UID" and "report UID OWNERUID".
func New(without Without) host.Controller {
	return host.Controller{
		Name: "garbagecollector", Contract: law.Contract{Profile: law.Upstream},
		New: func(env *host.Env) host.Reconciler { return newCollector(&without, env) },
	}
}

type collector struct {
	env     *host.Env
	graph   *graph
	without *Without
	served  []*fakeapi.Kind                           // the served kinds from which the next two fields were made
	kinds   map[schema.GroupVersionKind]*fakeapi.Kind // by each served version of a kind, its preferred version
	current map[schema.GroupKind]*fakeapi.Kind        // the preferred version of each kind
	watched map[watching]bool

	complaints map[string]complaint // the key is the dependent's uid, a space, and the owner's uid
}

// watching names a watched resource and its kind. A CRD that is recreated may give the resource another kind.
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

const definitions = "CustomResourceDefinition"

// discover watches new kinds: all kinds at the start, then the kinds of each new CRD. It forgets kinds that are not
// served any more. The real garbage collector reads the list of kinds every 30 seconds.
func (c *collector) discover() {
	kinds, served := c.env.Kinds(), c.env.Served()
	if slices.Equal(served, c.served) {
		return
	}
	c.served, c.current = slices.Clone(served), make(map[schema.GroupKind]*fakeapi.Kind, len(kinds))
	c.kinds = make(map[schema.GroupVersionKind]*fakeapi.Kind, len(served))
	for _, k := range kinds {
		c.current[k.GVK.GroupKind()] = k
		w := watching{k.GVR().GroupResource(), k.GVK.Kind}
		if k.GVK.Kind == "Event" || c.watched[w] {
			continue // Events are not watched: there are many, and they own nothing (RULES K109)
		}
		c.watched[w] = true
		if _, err := c.env.Informer(k.GVK).AddEventHandler(c.handler(k.GVK)); err != nil {
			panic("garbagecollector: no handler for " + k.GVK.String() + ": " + err.Error())
		}
	}
	for _, k := range served {
		c.kinds[k.GVK] = c.current[k.GVK.GroupKind()]
	}
}

// kind returns the served kind of an identity, or nil. For an observed object, another version of the kind may be
// served. For a reference, its own version must be served.
func (c *collector) kind(id identity) *fakeapi.Kind {
	k := c.kinds[schema.FromAPIVersionAndKind(id.apiVersion, id.kind)]
	if k != nil && !(c.without.OtherVersions && k.GVK.GroupVersion().String() != id.apiVersion) {
		return k
	}
	if n := c.graph.nodes[id.uid]; n != nil && !n.virtual && n.identity == id {
		return c.current[schema.FromAPIVersionAndKind(id.apiVersion, id.kind).GroupKind()]
	}
	return nil
}

func (c *collector) handler(gvk schema.GroupVersionKind) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			c.graph.observed(gvk, nil, obj.(metav1.Object))
			c.defined(gvk)
		},
		UpdateFunc: func(old, obj any) {
			before, after := old.(metav1.Object), obj.(metav1.Object)
			if before.GetUID() != after.GetUID() {
				// The object was deleted and recreated between two events.
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

func (c *collector) defined(gvk schema.GroupVersionKind) {
	if gvk.Kind == definitions {
		c.discover()
	}
}

func (c *collector) Sync(ctx context.Context, key string) error {
	if about, ok := isReport(key); ok {
		c.report(ctx, about)
		return nil
	}
	work, uid, _ := strings.Cut(key, " ")
	n := c.graph.nodes[types.UID(uid)]
	if n == nil {
		return nil // the object is already gone
	}
	switch work {
	case "orphan":
		return c.orphan(ctx, n)
	case "delete":
		return c.collect(ctx, n)
	}
	panic("garbagecollector: no such work: " + key)
}

func (c *collector) Digest(h *sim.Hash) { c.graph.digest(h) }

// kindError means that the kind of an identity is not served. It may be served later, so retries never end (RULES K96).
type kindError struct{ id identity }

func (e *kindError) Error() string {
	return fmt.Sprintf("no matches for kind %q in version %q", e.id.kind, e.id.apiVersion)
}

// scope returns the served kind of an identity, and the namespace in which to look for the object.
func (c *collector) scope(id identity) (*fakeapi.Kind, string, error) {
	k := c.kind(id)
	if k == nil {
		return nil, "", &kindError{id}
	}
	switch {
	case k.Namespaced:
		return k, id.namespace, nil
	case c.without.Scope && id.namespace != "": // a cluster-scoped object has no path with a namespace
		return nil, "", apierrors.NewNotFound(schema.GroupResource{Group: k.GVK.Group, Resource: k.Resource}, id.name)
	}
	return k, "", nil
}

// unserved reports whether the server answered 404 because it does not know the path. The error then names no object.
// It may have no details at all, because a proxy may omit them.
func unserved(err error) bool {
	var answer apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &answer) {
		return false
	}
	about := answer.Status().Details
	return about == nil || about.Name == ""
}

// get reads an object from the server. If its kind is no longer served, the server answers 404, but the object may
// exist. Upstream treats the object as absent until its next discovery.
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

// Without configures a mutant (package mutants). Each field disables one check. Its comment says what the mutant does.
type Without struct {
	LiveItem      bool // read an object's owners from the graph, not from the server
	LiveOwner     bool // treat an owner missing from the graph as absent, without reading it
	OwnerUID      bool // accept a recreated object with the owner's name as the owner
	OwnerErrors   bool // treat an owner that could not be read as absent
	UnknownKind   bool // treat an owner of an unknown kind as absent
	Unserved      bool // treat an owner as absent if its kind is no longer served
	OtherVersions bool // treat an owner as absent if the reference names another version than the stored one
	EveryOwner    bool // delete an object if one of its owners is absent
	DeadRefs      bool // keep references to absent owners if another owner remains
	LiveRefs      bool // remove references to live owners together with references to absent ones
	AnyOwner      bool // treat only ControllerRefs as owners
	Waiting       bool // treat an owner in foreground deletion like one that is not terminating
	Undeleted     bool // treat the foreground finalizer of an owner that is not terminating as foreground deletion
	Finalizers    bool // delete an object in the background, even if it has the orphan or foreground finalizer
	Foreground    bool // delete an object in the background, even if it has the foreground finalizer
	Exercised     bool // replace a requested orphan deletion by a foreground deletion if an owner waits for the object
	Cycles        bool // do not break cycles of foreground deletions
	LateCycles    bool // do not break cycles that formed before the graph showed them
	Virtual       bool // do not look for owners that were never seen
	Unseen        bool // after finding an owner once, do not look it up again
	Scope         bool // look for a cluster-scoped owner in its dependent's namespace
	Reach         bool // look up a namespaced owner without a namespace if the dependent is cluster-scoped
	Borrowed      bool // look for owners of a cluster-scoped object in its dependent's namespace
	Guesses       bool // trust a cluster-scoped object's reference to a namespaced owner
	Removed       bool // keep an object as dependent of owners that it no longer refers to

	UIDPrecondition     bool // deletes do not carry the uid
	VersionPrecondition bool // deletes do not carry the resourceVersion
	ConflictCheck       bool // repeat a delete after a version conflict, even if the owners have changed
	ConflictPolicy      bool // repeat a delete even if the requested deletion policy has changed
	Policy              bool // background deletes set no policy: the kind's default applies

	AbsentCoordinates bool // remember absent owners by uid only
	Blocking          bool // in foreground deletion, wait for no dependent
	BlockingOnly      bool // in foreground deletion, wait also for dependents that do not block
	Unblock           bool // do not check an owner when a blocking reference to it is removed
	Report            bool // do not check owners in foreground deletion when a dependent is gone

	OrphanFirst  bool // remove the orphan finalizer before the dependents are orphaned
	OrphanAgain  bool // remove the orphan finalizer even if the graph has shown another dependent in the meantime
	OrphanErrors bool // remove the orphan finalizer even if orphaning a dependent failed
	OthersStay   bool // also remove finalizers of other programs
	OrphanOwner  bool // remove the finalizer from any object that has the owner's name now

	Begun      bool // ignore a deletion policy that is requested during the deletion
	AskedAgain bool // do not queue the policy's work again if its finalizer was removed and added in a watch gap
}
