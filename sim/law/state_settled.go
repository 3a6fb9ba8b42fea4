package law

import (
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// settledCounts holds the owners and orphans of the settled world. It is computed once for all checks.
type settledCounts struct {
	done      bool
	collector *process          // a running garbage collector with active watches; nil for none
	owners    []ownerCount      // reconciled, non-terminating objects; an object has one entry for each controller
	orphans   []*Object         // dependents without a ControllerRef, except terminating ones
	slots     map[types.UID]int // UID -> last index in owners; ownerCount.next leads to the object's other entries
}

// ownerCount holds the numbers of active dependents that an owner has and wants, by the contract of one controller.
type ownerCount struct {
	*Object
	sub   *Actor
	next  int // index in owners of the object's entry for another controller; -1 for none
	owned int
	held  int  // number of owned dependents, including inactive ones
	want  int  // number of wanted dependents; negative: unknown
	waits bool // a dependent (BlocksCreate) or the server forbids further creations
	turns bool // deletions must wait too: the controller replaces named dependents one after another
	works bool // every process of the controller runs with active watches, so the owner must have converged
}

// short reports whether an owner has too few or too many dependents, although its controller need not wait.
func (o *ownerCount) short() bool {
	return o.want >= 0 && o.owned != o.want && !o.excused()
}

// excused reports whether the owner's controller has to wait before it changes the number of dependents.
func (o *ownerCount) excused() bool { return o.waits && (o.owned < o.want || o.turns) }

func (o *ownerCount) text() string {
	return o.Ref.String() + " wants " + strconv.Itoa(o.want) + ", owns " + strconv.Itoa(o.owned)
}

// detail returns the number of the owner's dependents of each kind, for example " (1 Pod, 0 Revision); not owned:
// revision/stray". The controller may have counted orphans as its own, so detail names at most two of each kind. If
// fewer than two kinds have owned objects or orphans, it returns "".
func (c *settledCounts) detail(s *State, o *ownerCount) string {
	var counts, nobodys []string
	for _, gvk := range o.sub.Owns {
		kind := gvk.Kind
		n, unowned := 0, 0
		for _, d := range c.orphans {
			if d.Ref.Kind == kind && d.Ref.Namespace == o.Ref.Namespace && unowned < 2 {
				unowned++
				nobodys = append(nobodys, d.Ref.String())
			}
		}
		for _, d := range s.Kind(kind) {
			if meta.ControlledBy(d.Meta, o.Meta.GetUID()) && o.sub.counts(d.Value, d.Meta) {
				n++
			}
		}
		if n > 0 || unowned > 0 {
			counts = append(counts, strconv.Itoa(n)+" "+kind)
		}
	}
	if len(counts) < 2 {
		return ""
	}
	text := " (" + strings.Join(counts, ", ") + ")"
	if nobodys != nil {
		text += "; not owned: " + strings.Join(nobodys, ", ")
	}
	return text
}

func (c *settledCounts) take(s *State) {
	if c.slots == nil {
		c.slots = map[types.UID]int{}
	}
	clear(c.slots)
	c.done, c.collector = true, nil
	c.owners, c.orphans = c.owners[:0], c.orphans[:0]
	for i, p := range s.processes {
		if p.stopped {
			continue
		}
		if p.Actor.Controller == collector && p.works() {
			c.collector = p
		}
		if p.Actor.For.Kind != "" && !s.described(i) {
			s.agrees(&p.Actor)
			c.addOwners(s, &p.Actor)
		}
	}
	for i, p := range s.processes {
		for _, gvk := range p.Actor.Owns {
			if !p.stopped && p.Actor.For.Kind != "" && !s.counted(i, gvk.Kind) {
				c.count(s, gvk.Kind)
			}
		}
	}
}

// described reports whether a process before index i runs the same controller for the same kind. The owners of a kind
// are counted once for each controller, not once for each process.
func (s *State) described(i int) bool {
	sub := &s.processes[i].Actor
	return slices.ContainsFunc(s.processes[:i], func(p *process) bool { return !p.stopped && p.runs(sub) })
}

func (p *process) runs(sub *Actor) bool {
	return p.Actor.For.Kind == sub.For.Kind && p.Actor.Controller == sub.Controller
}

// counted reports whether a process before index i, which has not stopped, also manages the kind.
func (s *State) counted(i int, kind string) bool {
	return slices.ContainsFunc(s.processes[:i], func(p *process) bool { return !p.stopped && p.manages(kind) })
}

// allWork reports whether every process of the actor's controller runs with active watches. Stopped processes do not
// count.
func (s *State) allWork(sub *Actor) bool {
	return !slices.ContainsFunc(s.processes, func(p *process) bool { return p.runs(sub) && !p.stopped && !p.works() })
}

func (c *settledCounts) addOwners(s *State, sub *Actor) {
	works := s.allWork(sub)
	for _, o := range s.Kind(sub.For.Kind) {
		if meta.Deleting(o.Meta) || s.terminating(o.Ref.Namespace) {
			continue
		}
		want := -1
		if sub.Replicas != nil {
			want = sub.Replicas(objectOf(o.Value))
		}
		next := -1
		if i, ok := c.slots[o.Meta.GetUID()]; ok {
			next = i
		}
		c.slots[o.Meta.GetUID()] = len(c.owners)
		awaits := s.awaits(sub, o)
		c.owners = append(c.owners,
			ownerCount{Object: o, sub: sub, next: next, want: want,
				waits: awaits || s.forbidden.more(o), turns: awaits && sub.Wanted != nil, works: works})
	}
}

func (s *State) standsAlone(o sim.Ref) bool {
	return slices.ContainsFunc(s.processes, func(p *process) bool { return p.Actor.standsAlone(o) })
}

func (c *settledCounts) count(s *State, kind string) {
	for _, d := range s.Kind(kind) {
		ref := meta.ControllerOf(d.Meta)
		if ref == nil {
			if !meta.Deleting(d.Meta) && !s.terminating(d.Ref.Namespace) && !s.standsAlone(d.Ref) {
				c.orphans = append(c.orphans, d)
			}
			continue
		}
		i, ok := c.slots[ref.UID]
		for ; ok && i >= 0; i = c.owners[i].next {
			o := &c.owners[i]
			if !among(o.sub.Owns, kind) {
				continue
			}
			if o.held++; o.sub.counts(d.Value, d.Meta) {
				o.owned++
			}
		}
	}
}

// wouldOwn reports whether an orphan is active and an owner selects it.
func (s *State) wouldOwn(o *ownerCount, orphan *Object) bool {
	return among(o.sub.Owns, orphan.Ref.Kind) && o.sub.counts(orphan.Value, orphan.Meta) &&
		s.Selects(o.sub, o.Value, orphan.Meta)
}

// awaits reports whether a dependent blocks further creations for an owner ([Contract].BlocksCreate).
func (s *State) awaits(sub *Actor, owner *Object) bool {
	return sub.BlocksCreate != nil && slices.ContainsFunc(s.Dependents(owner.Meta.GetUID()), func(d *Object) bool {
		return meta.ControlledBy(d.Meta, owner.Meta.GetUID()) && sub.BlocksCreate(objectOf(owner.Value), objectOf(d.Value))
	})
}

// agrees panics if an actor's contract is wrong for the stored owners. It is wrong if MaxSurge or MaxUnavailable is
// negative, or if the selectors of all owners can match nothing.
func (s *State) agrees(a *Actor) {
	unselective, selects := (*Object)(nil), false
	for _, o := range s.Kind(a.For.Kind) {
		a.allowed("MaxSurge", a.MaxSurge, o.Value)
		a.allowed("MaxUnavailable", a.MaxUnavailable, o.Value)
		sel := s.selector(a, o.Value)
		selects = selects || a.Selector == nil || sel == nil || matchable(sel)
		unselective = o
	}
	if unselective != nil && !selects {
		panic(Misuse("controller " + a.Controller + ": Contract.Selector of " + unselective.Ref.String() +
			" can match nothing: return nil for an owner that selects nothing"))
	}
}

// matchable reports whether a selector matches some set of labels. For each key, one value or the absence of the key
// must satisfy all requirements on this key. matchable tries the values in the requirements, and one other value.
func matchable(sel labels.Selector) bool {
	all, selects := sel.Requirements()
	for _, r := range all {
		values := []labels.Set{{}, {r.Key(): "-"}} // "-" stands for all values that no requirement names
		of := slices.DeleteFunc(slices.Clone(all), func(q labels.Requirement) bool { return q.Key() != r.Key() })
		for _, q := range of {
			if q.Operator() == selection.GreaterThan || q.Operator() == selection.LessThan {
				return selects
			}
			for v := range q.Values() { //detcheck:ordered any of them
				values = append(values, labels.Set{r.Key(): v})
			}
		}
		selects = selects && slices.ContainsFunc(values, func(v labels.Set) bool {
			return !slices.ContainsFunc(of, func(q labels.Requirement) bool { return !q.Matches(v) })
		})
	}
	return selects
}

type refState uint8

const (
	absent  refState = iota // no object has the UID, kind and name of the reference
	foreign                 // the owner is in another namespace, which counts as absent (GC-7)
	waiting                 // the owner waits for the deletion of its dependents
	solid                   // the owner exists and does not wait
)

// refState returns the state of an owner reference of an object in this namespace.
func (s *stored) refState(ref *metav1.OwnerReference, namespace string) refState {
	o := s.byUID[ref.UID]
	switch {
	case o == nil || o.Ref.Kind != ref.Kind || o.Ref.Name != ref.Name:
		return absent
	case o.Ref.Namespace != "" && o.Ref.Namespace != namespace:
		return foreign
	case meta.Foreground(o.Meta):
		return waiting
	}
	return solid
}

// reaches reports whether an owner reference names an existing owner, and the owner is not in another namespace.
func (s *stored) reaches(ref *metav1.OwnerReference, namespace string) bool {
	return ref != nil && s.refState(ref, namespace) > foreign
}

// refStates counts an object's owner references by state.
type refStates struct{ absent, foreign, waiting, solid int }

func (s *State) refStates(o *Object) refStates { return s.refStatesOf(o.Meta) }

func (s *State) refStatesOf(m metav1.Object) refStates {
	var st refStates
	refs := m.GetOwnerReferences()
	for i := range refs {
		switch s.refState(&refs[i], m.GetNamespace()) {
		case absent:
			st.absent++
		case foreign:
			st.foreign++
		case waiting:
			st.waiting++
		case solid:
			st.solid++
		}
	}
	return st
}
