package garbagecollector

import (
	"cmp"
	"container/list"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
)

// identity is the full coordinates of an object. A reference may be wrong, so one uid may have two identities.
type identity struct {
	apiVersion, kind, namespace, name string
	uid                               types.UID
}

func compareIdentity(a, b identity) int {
	return cmp.Or(
		cmp.Compare(a.kind, b.kind), cmp.Compare(a.apiVersion, b.apiVersion),
		cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name), cmp.Compare(a.uid, b.uid),
	)
}

func referred(r *metav1.OwnerReference, namespace string) identity {
	return identity{apiVersion: r.APIVersion, kind: r.Kind, namespace: namespace, name: r.Name, uid: r.UID}
}

// refersTo reports whether a reference to id's uid has id's name, kind and apiVersion. A reference has no namespace.
func (id *identity) refersTo(r *metav1.OwnerReference) bool {
	return r.Name == id.name && r.Kind == id.kind && r.APIVersion == id.apiVersion
}

// node is one object, with the references that an event last showed.
type node struct {
	identity
	owners     []metav1.OwnerReference
	dependents []*node // sorted by identity

	virtual    bool // known from references only; it may not exist
	deleting   bool // has deletionTimestamp
	foreground bool // is being deleted in the foreground
	released   bool // one of the controller's finalizers was or is being removed; no later event has shown the object
}

// blocking returns the dependents for which the node's foreground deletion waits.
func (n *node) blocking(without *Without) []*node {
	var out []*node
	for _, d := range n.dependents {
		for i := range d.owners {
			if r := &d.owners[i]; r.UID == n.uid && (blocks(r) || without.BlockingOnly) {
				out = append(out, d)
				break
			}
		}
	}
	return out
}

// waitsForItself reports whether the node's foreground deletion waits for the node itself, through other nodes in
// foreground deletion. A node's reference to itself does not count. Such a node waits forever, also in upstream.
func (n *node) waitsForItself(without *Without) bool {
	met := []*node{n}
	for i := 0; i < len(met); i++ {
		for _, d := range met[i].blocking(without) {
			if d == n && i > 0 {
				return true
			}
			if d.foreground && !slices.Contains(met, d) {
				met = append(met, d)
			}
		}
	}
	return false
}

func blocks(r *metav1.OwnerReference) bool {
	return r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion
}

func (n *node) addDependent(d *node) {
	i, found := slices.BinarySearchFunc(n.dependents, d.identity, byIdentity)
	if !found {
		n.dependents = slices.Insert(n.dependents, i, d)
	}
}

func (n *node) dropDependent(d *node) {
	if i, found := slices.BinarySearchFunc(n.dependents, d.identity, byIdentity); found {
		n.dependents = slices.Delete(n.dependents, i, i+1)
	}
}

func byIdentity(n *node, id identity) int { return compareIdentity(n.identity, id) }

type graph struct {
	nodes   map[types.UID]*node
	absent  absentOwners
	without *Without

	look   func(n *node) // queues "delete UID"
	orphan func(n *node) // queues "orphan UID"
	// complain is called for a reference from n to an owner in another namespace.
	complain func(n *node, owner *metav1.OwnerReference)
}

func newGraph(without *Without) *graph {
	return &graph{nodes: map[types.UID]*node{}, absent: newAbsentOwners(without), without: without}
}

func (g *graph) lookAll(nodes []*node) {
	for _, n := range nodes {
		g.look(n)
	}
}

func (g *graph) insert(n *node) {
	g.nodes[n.uid] = n
	g.addEdges(n, n.owners)
}

// addEdges adds n to the dependents of its owners. An owner that was not seen becomes a virtual node, and is looked up
// (GC-6). If an owner was seen under other coordinates, the reference may be wrong, so n is checked (GC-7). If the
// first such reference is to an owner in another namespace, an Event reports it.
func (g *graph) addEdges(n *node, refs []metav1.OwnerReference) {
	doubtful := false
	for i := range refs {
		owner := g.nodes[refs[i].UID]
		if owner == nil {
			owner = &node{identity: referred(&refs[i], n.namespace), virtual: true}
			g.nodes[owner.uid] = owner
			if !g.without.Virtual {
				g.look(owner)
			}
		} else if !doubtful && g.contradicts(n, owner, &refs[i]) {
			doubtful = true
			if !owner.virtual && owner.elsewhere(n) {
				g.complain(n, &refs[i])
			}
		}
		owner.addDependent(n)
	}
	if doubtful {
		g.look(n)
	}
}

// contradicts reports whether a reference with owner's uid may mean another object.
func (g *graph) contradicts(n, owner *node, ref *metav1.OwnerReference) bool {
	if owner.elsewhere(n) {
		return true
	}
	if !owner.refersTo(ref) {
		return true
	}
	// A cluster-scoped object referred to this virtual owner, so the owner's node has no namespace. If the owner's kind
	// is namespaced, that reference was wrong.
	return owner.namespace == "" && n.namespace != "" && owner.virtual && !g.without.Guesses
}

// elsewhere reports whether an owner is in a namespace other than n's.
func (id *identity) elsewhere(n *node) bool { return id.namespace != "" && id.namespace != n.namespace }

func (g *graph) dropEdges(n *node, refs []metav1.OwnerReference) {
	for i := range refs {
		if owner := g.nodes[refs[i].UID]; owner != nil {
			owner.dropDependent(n)
		}
	}
}

// remove removes a node. It queues checks of the dependents, which lose an owner, and of owners that waited for the
// node.
func (g *graph) remove(n *node) {
	delete(g.nodes, n.uid)
	g.dropEdges(n, n.owners)
	if len(n.dependents) > 0 {
		g.absent.add(n.identity)
	}
	g.lookAll(n.dependents)
	for i := range n.owners {
		owner := g.nodes[n.owners[i].UID]
		if owner != nil && owner.foreground && !g.without.Report {
			g.look(owner)
		}
	}
}

// digest hashes the graph without the lists of dependents, which follow from the owners.
func (g *graph) digest(h *sim.Hash) {
	var sum uint64
	for _, n := range g.nodes { //detcheck:ordered a sum of mixed words
		var one sim.Hash
		n.identity.digest(&one)
		one.Bool(n.virtual)
		one.Bool(n.deleting)
		one.Bool(n.foreground)
		one.Bool(n.released)
		for i := range n.owners {
			r := referred(&n.owners[i], "")
			r.digest(&one)
			one.Bool(blocks(&n.owners[i]))
		}
		sum += sim.Mix(uint64(one))
	}
	h.Word(sum)
	g.absent.digest(h)
}

func (id *identity) digest(h *sim.Hash) {
	h.String(id.apiVersion)
	h.String(id.kind)
	h.String(id.namespace)
	h.String(id.name)
	h.String(string(id.uid))
}

const absentSize = 500

// absentOwners caches owners that do not exist, because a missing owner often has many dependents. The least recently
// used entry is dropped first. An entry never becomes wrong, because uids are unique. The key has all coordinates: the
// same uid may exist under another name, kind or namespace (GC-5, GC-7, RULES K95).
type absentOwners struct {
	without *Without
	entries map[identity]*list.Element
	order   *list.List // identities, last used first
}

func newAbsentOwners(without *Without) absentOwners {
	return absentOwners{without: without, entries: map[identity]*list.Element{}, order: list.New()}
}

func (a *absentOwners) key(id identity) identity {
	if a.without.AbsentCoordinates {
		return identity{uid: id.uid}
	}
	return id
}

func (a *absentOwners) add(id identity) {
	key := a.key(id)
	if e := a.entries[key]; e != nil {
		a.order.MoveToFront(e)
		return
	}
	a.entries[key] = a.order.PushFront(key)
	if a.order.Len() > absentSize {
		last := a.order.Back()
		delete(a.entries, last.Value.(identity))
		a.order.Remove(last)
	}
}

func (a *absentOwners) has(id identity) bool {
	e := a.entries[a.key(id)]
	if e != nil {
		a.order.MoveToFront(e)
	}
	return e != nil
}

// digest ignores the order of the entries, which matters only when the cache is full.
func (a *absentOwners) digest(h *sim.Hash) {
	var sum uint64
	for e := a.order.Front(); e != nil; e = e.Next() {
		var one sim.Hash
		id := e.Value.(identity)
		id.digest(&one)
		sum += sim.Mix(uint64(one))
	}
	h.Word(sum)
}
