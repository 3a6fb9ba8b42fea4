package garbagecollector

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
)

// identity is an object's full coordinates. What a reference says of its owner
// need not be true, so two identities of one uid occur.
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

// referred is the identity that a reference gives its owner, in a namespace.
func referred(r *metav1.OwnerReference, namespace string) identity {
	return identity{apiVersion: r.APIVersion, kind: r.Kind, namespace: namespace, name: r.Name, uid: r.UID}
}

// refersTo says whether a reference to this uid gives its owner these coordinates; the
// namespace is not part of a reference.
func (id *identity) refersTo(r *metav1.OwnerReference) bool {
	return r.Name == id.name && r.Kind == id.kind && r.APIVersion == id.apiVersion
}

// node is one object. Its owners are the references it was last seen with.
type node struct {
	identity
	owners     []metav1.OwnerReference
	dependents []*node // sorted by identity

	virtual    bool // known from references only; whether it exists is not known
	deleting   bool // has deletionTimestamp
	foreground bool // is being deleted in the foreground
	released   bool // its finalizer has been, or is just being, taken off; no event has shown it since
}

// blocking are the dependents that the node's foreground deletion waits for.
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

// waitsForItself says whether the node's foreground deletion waits, by way of
// others in foreground deletion, for the node. One that owns itself waits, as
// recorded from the real collector.
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

// graph is everything the collector knows.
type graph struct {
	nodes   map[types.UID]*node
	absent  absentOwners
	without *Without

	look   func(n *node) // queues "delete"
	orphan func(n *node) // queues "orphan"
	// complain is told of a reference to an owner that was seen elsewhere.
	complain func(n *node, owner *metav1.OwnerReference)
}

func newGraph(without *Without) *graph {
	return &graph{nodes: map[types.UID]*node{}, absent: newAbsentOwners(without), without: without}
}

// lookAll queues a look at each of the nodes.
func (g *graph) lookAll(nodes []*node) {
	for _, n := range nodes {
		g.look(n)
	}
}

// insert adds a node and its edges.
func (g *graph) insert(n *node) {
	g.nodes[n.uid] = n
	g.addEdges(n, n.owners)
}

// addEdges enters n with the owners that refs name. An owner that was never
// seen becomes a virtual node, and is looked for (GC-6). An owner that was seen
// under other coordinates makes n itself worth a look: the reference may be to
// nothing (GC-7). One such is enough, and the first alone is complained of.
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

// contradicts says whether a reference may be to something else than the owner
// of that uid that is in the graph.
func (g *graph) contradicts(n, owner *node, ref *metav1.OwnerReference) bool {
	if owner.elsewhere(n) {
		return true
	}
	if !owner.refersTo(ref) {
		return true
	}
	// A virtual owner without a namespace was referred to by a cluster-scoped
	// object; it may be of a namespaced kind, and referred to wrongly.
	return owner.namespace == "" && n.namespace != "" && owner.virtual && !g.without.Guesses
}

// elsewhere says whether an owner is in another namespace than n.
func (id *identity) elsewhere(n *node) bool { return id.namespace != "" && id.namespace != n.namespace }

func (g *graph) dropEdges(n *node, refs []metav1.OwnerReference) {
	for i := range refs {
		if owner := g.nodes[refs[i].UID]; owner != nil {
			owner.dropDependent(n)
		}
	}
}

// remove takes a node out: its dependents have one owner less, and an owner
// that is being deleted in the foreground may have been waiting for it.
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

// digest folds the graph in. Dependents follow from owners.
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
