package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/casefile"
	"github.com/threelaws/threelaws/sim/host"
)

// ends returns the cases about the end of the sample. For each deletion policy, one case deletes the sample, and
// another one also recreates it.
func (f *found) ends(s *operator) (all []place) {
	for _, policy := range policies {
		p := place{name: "deleted/" + propagation(policy), sameEnd: policy != metav1.DeletePropagationOrphan, settled: true, faults: few, objects: f.beforeOrphans(s, policy),
			user: verbs("delete " + s.owner.at() + " --cascade=" + propagation(policy))}
		f.expectNothing(s, &p, policy)
		switch {
		case len(f.bereft) > 0 && policy != metav1.DeletePropagationOrphan:
			p.settledCheck, p.sameEnd = both(p.settledCheck, f.handedOver(s)), false // a difference would only follow from this
		case len(f.dependents) == 0 || policy != metav1.DeletePropagationOrphan:
		case s.lasts > 0: // the controller may delete a dependent at a certain time
		case f.known("", adopting, naming, deleting) != "":
		case !f.adopts && !f.byName && !f.applies && !f.takesByFinalizer(policy): // otherwise orphans may be deleted
			p.settledCheck, p.faults = both(p.settledCheck, f.stillThere()), atWork
		}
		all = append(all, p)
	}
	all = append(all, f.early(s), f.unseen(s))
	for _, policy := range policies {
		p := place{name: "recreated/" + propagation(policy), settled: true, faults: few, objects: f.beforeOrphans(s, policy)}
		if policy == metav1.DeletePropagationBackground {
			p.user = f.older()
		}
		p.user = append(p.user, verbs("delete "+s.owner.at()+" --cascade="+propagation(policy))...)
		if policy == metav1.DeletePropagationBackground && f.goes {
			p.user = append(p.user, verbs("wait "+f.of)...)
		} else {
			p.user = append(p.user, casefile.Action{Verb: "settle"}) // the name is free only when the world has settled
		}
		next := f.again(s)
		p.user, next = append(p.user, next[0]), next[1:]
		left := f.orphans[policy]
		if policy == metav1.DeletePropagationOrphan {
			left = f.standing()
		}
		for _, d := range left { // as long as the orphan exists, its name is taken
			if f.adopts || !f.gives(d) {
				continue
			}
			p.countsMarked = true // the world may settle before the user deletes the orphan
			if !(f.byName && f.createsOnce(d)) {
				p.user = append(p.user, gone(d))
			}
		}
		if policy == metav1.DeletePropagationOrphan {
			for _, d := range f.others { // another controller of the same owner may need the name
				p.user = append(p.user, casefile.Action{Verb: gone(d).Verb + " --ignore-not-found"})
			}
		}
		if p.countsMarked { // the deletion of an orphan need not wake the controller, so the user changes the owner later
			p.user = append(p.user, casefile.Action{Verb: "settle"})
			if p.uncounted = f.unmarked || slices.ContainsFunc(left, f.createsOnce); !f.unmarked {
				next = append(next, verbs("annotate "+f.of+" "+other+"=yes")...)
			}
		}
		p.user = append(p.user, next...)
		all = append(all, p)
	}
	return append(all, f.held(s), f.dependentHeld(s), f.terminating(s), f.restored(s))
}

// beforeOrphans returns the owners of a case that deletes the sample. If the deletion orphans its dependents, and the second
// owner needs their names, it would wait for the user. In this case the sample is the only owner.
func (f *found) beforeOrphans(s *operator, policy metav1.DeletionPropagation) []manifest {
	if f.contend && policy == metav1.DeletePropagationOrphan {
		return []manifest{s.owner}
	}
	return f.both(s)
}

// older returns actions after which the sample has a higher generation than the one that [found.again] creates. A
// controller may remember the generation, or a hash, by the owner's name.
func (f *found) older() []casefile.Action {
	if f.change == nil || len(f.history) > 0 {
		return nil
	}
	return append(f.edited(f.change), casefile.Action{Verb: "settle"})
}

// again returns actions that recreate the sample with another field value, and then edit it. Objects of the old owner
// must not change.
func (f *found) again(s *operator) []casefile.Action {
	next, back := manifest{s.owner.DeepCopy()}, map[string]any{}
	if f.change != nil {
		f.change.set(next.Object, f.change.to)
		join(back, f.change.patch(f.change.from), true)
	}
	if n, ok := f.less(); ok {
		join(back, f.scale.patch(n), true)
	}
	if len(back) == 0 {
		return []casefile.Action{casefile.Action{Manifests: next.text()}}
	}
	return []casefile.Action{casefile.Action{Manifests: next.text()}, patch(f.of, back)}
}

// held is a case: a finalizer of another program delays the sample's deletion. A controller that overwrites the list of
// finalizers could remove this one. So the user adds the finalizer to an existing list, by a JSON patch.
func (f *found) held(s *operator) place {
	p := place{name: "held", objects: f.both(s), settled: true, faults: few, user: []casefile.Action{
		patch(f.of, map[string]any{"metadata": map[string]any{"finalizers": []any{hold}}})}}
	if listed := s.owner.GetFinalizers(); len(listed) > 0 || len(f.finalizers) > 0 {
		owner := manifest{s.owner.DeepCopy()}
		owner.SetFinalizers(append([]string{holdFirst}, listed...))
		p.objects, p.settled = append([]manifest{owner}, p.objects[1:]...), false
		p.user = []casefile.Action{jsonPatch(f.of,
			map[string]any{"op": "test", "path": "/metadata/finalizers/0", "value": holdFirst},
			map[string]any{"op": "add", "path": "/metadata/finalizers/1", "value": hold})}
	}
	p.user = append(p.user, casefile.Action{Verb: "delete " + f.of + " --cascade=background"})
	return p
}

// dependentHeld is a case: another program keeps a finalizer on a dependent while the sample is edited. So it does on
// objects without a reference that the controller deletes after the sample. FIN-1 judges
// whether the controller removes this finalizer when it writes the dependent.
func (f *found) dependentHeld(s *operator) place {
	p := place{name: "dependent-held", objects: f.both(s), settled: true, faults: few}
	e := f.change // an edit of another kind may leave the existing dependents as they are
	if e == nil {
		e = f.anyEdit()
	}
	if e == nil {
		p.why = f.untold("no field of its sample's spec, edited, made it do anything", editing)
		return p
	}
	finalizers := func(m manifest, list []string) casefile.Action {
		meta := map[string]any{"finalizers": list}
		if s.Strict {
			meta["labels"], meta["annotations"] = map[string]any{other: "yes"}, map[string]any{other: "yes"}
		}
		return patch(m.at(), map[string]any{"metadata": meta})
	}
	var free []casefile.Action
	for _, d := range append(f.firsts(), f.cleans[metav1.DeletePropagationBackground].perOwner()...) {
		p.user = append(p.user, finalizers(d, append(slices.Clone(d.GetFinalizers()), hold)))
		free = append(free, finalizers(d, d.GetFinalizers()))
	}
	if len(free) == 0 {
		p.why = f.childless()
		return p
	}
	p.user = append(append(p.user, f.edited(e)...), free...)
	return p
}

// takesByFinalizer reports whether the controller deletes the dependents before the owner can be removed.
func (f *found) takesByFinalizer(policy metav1.DeletionPropagation) bool {
	return f.takes[policy] && len(f.finalizers) > 0
}

// nothingOf returns a check that no dependents of a deleted owner exist.
func (f *found) nothingOf(owner manifest) scenarios.Func {
	return f.eachLeft(func(o metav1.Object, kind string) error {
		for _, ref := range o.GetOwnerReferences() {
			if ref.Kind == owner.GetKind() && ref.Name == owner.GetName() {
				return fmt.Errorf("%s/%s is left of %s, which was deleted", strings.ToLower(kind), o.GetName(), owner.at())
			}
		}
		return nil
	})
}

// eachLeft returns a check that calls the function ask for each object of the kinds that the controller owns.
func (f *found) eachLeft(ask func(o metav1.Object, kind string) error) scenarios.Func {
	kinds := append([]schema.GroupVersionKind(nil), f.owns...)
	return func(user host.Client) error {
		for _, gvk := range kinds {
			list, err := user.List(context.Background(), gvk, "", metav1.ListOptions{})
			if err != nil {
				return err
			}
			for _, o := range list {
				if err := ask(o.(metav1.Object), gvk.Kind); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// stillThere returns a check that the orphaned dependents exist.
func (f *found) stillThere() scenarios.Func {
	left := f.standing()
	return func(user host.Client) error {
		for _, d := range left {
			_, err := user.Get(context.Background(), d.GroupVersionKind(), d.GetNamespace(), d.GetName())
			if err != nil {
				return fmt.Errorf("%s is gone, though it should outlive its owner", d.at())
			}
		}
		return nil
	}
}

// In the following cases the world settles before the decisive step, so every controller has seen the latest state. So
// the cases can also test whole programs, although the host cannot see when a program reads an object.

// terminating is a case: while the sample is terminating, it is edited, and an orphan that fits the sample is created.
func (f *found) terminating(s *operator) place {
	held := manifest{s.owner.DeepCopy()}
	held.SetFinalizers(append(held.GetFinalizers(), hold))
	p := place{name: "terminating", objects: []manifest{held}, settled: true, faults: few,
		user: verbs("delete "+f.of+" --cascade=background", "settle")}
	for _, d := range f.each() {
		if o := d.copied(f.named(stray, d)); s.makes(o) == nil {
			p.user = append(p.user, casefile.Action{Manifests: o.text()})
		}
	}
	for _, e := range []*edit{f.scale, f.change} {
		if e != nil {
			p.user = append(p.user, patch(f.of, e.patch(e.to)))
		}
	}
	if len(p.user) == 2 {
		p.why = "it is not known to do anything for its sample then"
	}
	return p
}

// before is the UID of an earlier object that had the sample's name.
const before = "0a0b0c0d-0000-4000-8000-000000000000"

// restored is a case: dependents of an earlier owner with the same name are restored from a backup, while watches of
// the garbage collector are paused. Then the sample is created and edited.
func (f *found) restored(s *operator) place {
	p := place{name: "restored", settled: true, faults: few}
	var free []casefile.Action
	for _, d := range f.each() {
		o := d.copiedOf(before, f.named(stray, d))
		if f.gives(d) {
			o = d.copiedOf(before, d.GetName())
		}
		ref := reference(s.owner)
		ref["uid"] = before
		o.Object["metadata"].(map[string]any)["ownerReferences"] = []any{ref}
		if err := s.makes(o); err != nil {
			p.why = "no copy of a " + d.GetKind() + " can be made: " + err.Error()
		}
		p.user = slices.Insert(p.user, 0, casefile.Action{Verb: "hold gc sees=" + d.GetKind()})
		p.user = append(p.user, casefile.Action{Manifests: o.text()})
		free = append(free, casefile.Action{Verb: "release gc sees=" + d.GetKind()})
	}
	if len(free) == 0 {
		p.why = f.childless()
	}
	p.user = append(append(p.user, casefile.Action{Verb: "settle"}), f.again(s)...)
	p.user = append(p.user, free...)
	return p
}

// replaced is a case: the user deletes a dependent, gives its name to an object of another owner, and makes the sample
// want fewer dependents. A controller that deletes by name without a UID precondition then deletes the wrong object.
func (f *found) replaced(s *operator, surplus []manifest, err error) place {
	p := place{name: "replaced", objects: f.both(s), settled: true, faults: few}
	rival := f.rival(s)
	e, fewer := f.fewer()
	left := slices.DeleteFunc(slices.Clone(surplus), func(d manifest) bool { return !slices.Contains(f.watches, d.GetKind()) })
	switch {
	case f.lone(rival) != "":
		p.why = f.lone(rival)
	case len(f.fixed) == 0:
		p.why = f.known("it gives its dependents no names: none is recreated with another owner", naming)
	case e == nil:
		p.why = f.untold("no known edit of its sample's spec makes it want fewer dependents", editing, scaling)
	case err != nil:
		p.why = "unknown: what it has with fewer dependents: " + err.Error()
	case f.second.Unstructured == nil:
		p.why = "no second owner can stand beside its sample"
	case len(left) == 0:
		p.why = "with fewer dependents, it still has all that it names and watches"
	}
	if p.why != "" {
		return p
	}
	p.objects = append([]manifest{rival}, p.objects...)
	var free, leave []casefile.Action
	for _, d := range left {
		theirs := owned(d.copiedOf(before, d.GetName()), rival)
		if err := s.makes(theirs); err != nil {
			p.why = "no copy of a " + d.GetKind() + " can be made: " + err.Error()
		}
		leave = append(leave, casefile.Action{Verb: gone(theirs).Verb + " --ignore-not-found"})
		held := s.Controller.Name + " sees=" + d.GetKind()
		p.user = append(p.user, casefile.Action{Verb: "hold " + held}, gone(d), casefile.Action{Manifests: theirs.text()})
		free = append(free, casefile.Action{Verb: "release " + held})
	}
	p.user = append(p.user, patch(f.of, e.patch(fewer)))
	p.user = append(append(p.user, free...), verbs("wait")...)
	p.user = append(p.user, leave...) // a controller may return an error as long as another owner's object has the name
	return p
}

// fewer returns an edit and its value with which the sample wants fewer dependents: one less, or without what a field
// turns off, or without what an optional field asks for. The edit is nil if there is none.
func (f *found) fewer() (*edit, any) {
	if n, ok := f.less(); ok {
		return f.scale, n
	}
	for _, e := range slices.Concat(f.follows(), f.removes) {
		if e.has < e.had {
			return e, e.to // a removal's value is nil
		}
	}
	return nil, nil
}

// surplus returns the dependents with fixed names that the sample loses by the edit fewer. The world has a second owner.
func (f *found) surplus(s *operator) (list []manifest, err error) {
	e, fewer := f.fewer()
	if e == nil || f.second.Unstructured == nil {
		return nil, nil
	}
	owner := s.edited(e, fewer)
	r, err := s.run(owner, f.second)
	if err != nil {
		return nil, err
	}
	defer r.Stop()
	if !r.settled {
		return nil, errors.New(notSettled)
	}
	kept := map[string]bool{}
	for _, d := range r.controlled(owner, f.owns) {
		kept[d.at()] = true
	}
	for _, d := range f.pair {
		if f.gives(d) && !kept[d.at()] {
			list = append(list, d)
		}
	}
	return list, nil
}

// delays is the number of user actions before the deletion in the case deleted/early. Without them, most random
// schedules would delete the sample before any controller runs.
const delays = 6

// early is a case: the sample is deleted while its controller still creates dependents. A whole program sends many
// requests when it starts, so most random schedules would delete the sample before the program has seen it. For a
// program, the sample is therefore created after the world has settled.
func (f *found) early(s *operator) place {
	p := place{name: "deleted/early", faults: few, objects: f.both(s)}
	if s.Controller.Hosted() && f.second.Unstructured != nil {
		p.settled, p.objects = true, []manifest{f.second}
		p.user = append(p.user, casefile.Action{Manifests: s.owner.text()})
	}
	for i := range delays {
		p.user = append(p.user, verbs(fmt.Sprintf("label ns/default %s=%d", other, i))...)
	}
	p.user = append(p.user, verbs("delete "+f.of+" --cascade=background")...)
	f.expectNothing(s, &p, metav1.DeletePropagationBackground)
	return p
}
