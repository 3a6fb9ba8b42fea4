package check

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/casefile"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// cleanUp lists the objects that the controller deletes after their owner. These objects do not refer to the owner:
// they are cluster-scoped or in other namespaces, or the controller finds them by labels or recorded names.
type cleanUp struct {
	removes []remains                 // for each deleted kind: the objects that remain if there is a second owner
	there   []remains                 // for each deleted kind: the objects of both owners before the deletion
	alone   []remains                 // for each deleted kind: the objects that remain if there is no second owner
	had     []remains                 // for each deleted kind: the objects before the deletion if there is no second owner
	leaves  []schema.GroupVersionKind // kinds that the controller does not delete
}

// remains contains the objects of a kind without owner references, before or after an owner is deleted.
type remains struct {
	kind    schema.GroupVersionKind
	objects map[string]manifest // by "namespace/name"
}

func (r remains) has(name string) bool {
	_, has := r.objects[name]
	return has
}

func (r remains) in(other remains) bool {
	for name := range r.objects { //detcheck:ordered all must be there
		if !other.has(name) {
			return false
		}
	}
	return true
}

// cleansUp finds the kinds whose objects the controller deletes after the sample, although they do not refer to it. It
// deletes the sample in two worlds: one without and one with a second owner.
func (f *found) cleansUp(s *operator, policy metav1.DeletionPropagation) (c cleanUp, err error) {
	kinds := f.unowned()
	switch {
	case len(kinds) == 0:
		return c, nil
	case s.lasts > 0:
		f.doubt(deleting + ": what it deletes depends on the time")
		return c, nil
	case f.second.Unstructured == nil:
		f.doubt(deleting + ": no second owner can stand beside the one that is deleted")
		return c, nil
	}
	alone, had, err := s.left(policy, kinds, s.owner)
	if err != nil {
		return c, err
	}
	beside, there, err := s.left(policy, kinds, s.owner, f.second)
	if err != nil {
		return c, err
	}
	if alone == nil || beside == nil {
		f.doubt(deleting + ": " + notSettled + " after the deletion of its owner")
		return c, nil
	}
	for i, kind := range kinds {
		switch {
		case !had[i].in(alone[i]):
			c.removes, c.there = append(c.removes, beside[i]), append(c.there, there[i])
			c.alone, c.had = append(c.alone, alone[i]), append(c.had, had[i])
		case len(had[i].objects) > 0 && (len(f.finalizers) > 0 || !s.server.Kind(kind).Namespaced && len(there[i].objects) > len(had[i].objects)):
			c.leaves = append(c.leaves, kind)
		}
	}
	return c, nil
}

// perOwner returns for each kind an object that the controller deletes after the sample.
func (c cleanUp) perOwner() (list []manifest) {
	for i, r := range c.there {
		for _, name := range slices.Sorted(maps.Keys(r.objects)) {
			if !c.removes[i].has(name) {
				list = append(list, r.objects[name])
				break
			}
		}
	}
	return list
}

// loose lists the objects in a run without references that the controller deletes after the sample. It leaves out kinds
// that hold data.
func (f *found) loose(r *quiet) (list []manifest) {
	c := f.cleans[metav1.DeletePropagationBackground]
	for i, had := range c.had {
		if slices.Contains([]string{"PersistentVolumeClaim", "PersistentVolume", "Namespace"}, had.kind.Kind) {
			continue
		}
		now := r.remains([]schema.GroupVersionKind{had.kind})[0]
		for _, name := range slices.Sorted(maps.Keys(had.objects)) {
			if m, there := now.objects[name]; there && !c.alone[i].has(name) {
				list = append(list, m)
			}
		}
	}
	return list
}

// looseWith lists the objects of loose that the sample has, and the owner of another run has not.
func (f *found) looseWith(bare *quiet) (list []mark) {
	c := f.cleans[metav1.DeletePropagationBackground]
	without := f.loose(bare)
	for i, had := range c.had {
		for _, name := range slices.Sorted(maps.Keys(had.objects)) {
			if m := had.objects[name]; !c.alone[i].has(name) && !slices.ContainsFunc(without, m.same) {
				list = append(list, mark{of: m, path: []string{"spec"}, value: withoutChosen(m.Object["spec"]), whole: true})
			}
		}
	}
	return list
}

// left deletes the first owner, and returns the objects of the given kinds after and before the deletion. It returns
// nil if the world does not settle, or if the owner still exists.
func (s *operator) left(policy metav1.DeletionPropagation, kinds []schema.GroupVersionKind, owners ...manifest) (
	after, before []remains, err error,
) {
	r, err := s.run(owners...)
	if err != nil {
		return nil, nil, err
	}
	defer r.Stop()
	before = r.remains(kinds)
	if err := r.remove(owners[0], policy); err != nil || !r.settled || r.stored(owners[0]) != nil {
		return nil, nil, nil // the cases that delete the owner show why
	}
	return r.remains(kinds), before, nil
}

func (r *quiet) remains(kinds []schema.GroupVersionKind) (list []remains) {
	for _, gvk := range kinds {
		here := remains{gvk, map[string]manifest{}}
		r.Server.Each(r.Server.Kind(gvk), func(o runtime.Object) bool {
			if !referring(o) {
				here.objects[fullName(o)] = shown(o, gvk)
			}
			return true
		})
		list = append(list, here)
	}
	return list
}

func referring(o runtime.Object) bool { return len(o.(metav1.Object).GetOwnerReferences()) > 0 }

func fullName(o runtime.Object) string {
	m := o.(metav1.Object)
	return m.GetNamespace() + "/" + m.GetName()
}

// cleared returns a check for the time after an owner's deletion. For each kind in allowed, at most that many objects
// without owner references may exist then. If allowed is empty, cleared returns nil.
func cleared(owner manifest, allowed []remains) scenarios.Func {
	if len(allowed) == 0 {
		return nil
	}
	return func(user host.Client) error {
		if _, err := user.Get(context.Background(), owner.GroupVersionKind(), owner.GetNamespace(), owner.GetName()); err == nil {
			return nil
		}
		for _, quiet := range allowed {
			list, err := user.List(context.Background(), quiet.kind, "", metav1.ListOptions{})
			if err != nil {
				return err
			}
			if list = slices.DeleteFunc(list, referring); len(list) <= len(quiet.objects) {
				continue
			}
			for _, o := range list {
				if !quiet.has(fullName(o)) {
					return fmt.Errorf("after the deletion of %s, there are %d objects of kind %s, and %d after a run without faults; only here: %s",
						owner.at(), len(list), quiet.kind.Kind, len(quiet.objects), o.(metav1.Object).GetName())
				}
			}
		}
		return nil
	}
}

// unseen is a case: an owner is created and deleted while watches are paused, so that the controller does not see the
// owner's objects.
func (f *found) unseen(s *operator) place {
	p := place{name: "deleted/unseen", settled: true, objects: f.both(s)}
	c := f.cleans[metav1.DeletePropagationBackground]
	late := s.owner.renamed(s.owner.GetName() + "-late")
	var free []casefile.Action
	for _, r := range c.removes {
		if slices.Contains(f.watches, r.kind.Kind) {
			seen := s.Controller.Name + " sees=" + r.kind.Kind
			p.user, free = append(p.user, verbs("hold "+seen)...), append(free, verbs("release "+seen)...)
		}
	}
	if len(free) == 0 {
		p.why = f.known("nothing that it watches is out of the reach of a reference to the owner, and deleted with it", deleting)
		return p
	}
	p.user = append(p.user, casefile.Action{Manifests: late.text()}, casefile.Action{Verb: "settle"},
		casefile.Action{Verb: "delete " + late.at() + " --cascade=background"}, casefile.Action{Verb: "settle"})
	p.user = append(p.user, free...)
	p.settledCheck = cleared(late, c.there)
	return p
}

// dependentUnseen is a case: a watch gap hides that a dependent was created and deleted. No event shows that the
// dependent is missing, so an edit of the owner enqueues the owner.
func (f *found) dependentUnseen(s *operator) place {
	p := place{name: "dependent-unseen", settled: true}
	if f.second.Unstructured != nil {
		p.objects = []manifest{f.second}
	}
	var gone, free []casefile.Action
	pods := false
	for _, d := range f.each() {
		// As upstream's controllers do, a controller of Pods may wait five minutes, and then for the next event.
		pods = pods || d.GetKind() == "Pod"
		if !slices.Contains(f.watches, d.GetKind()) || slices.Contains(f.asleep, d.GroupVersionKind()) ||
			f.createsOnce(d) || d.GetKind() == "Pod" {
			continue
		}
		seen := s.Controller.Name + " sees=" + d.GetKind()
		p.user = append(p.user, verbs("hold "+seen)...)
		// A dependent that is made after another one is Ready may not exist while the events of that one are held back.
		gone = append(gone, casefile.Action{Verb: "delete " + d.at() + " --ignore-not-found"})
		free = append(free, verbs("relist "+s.Controller.Name+" "+d.GetKind(), "release "+seen)...)
	}
	switch {
	case len(f.dependents) == 0:
		p.why = f.childless()
	case s.lasts > 0:
		p.why = "the names of its dependents depend on the time"
	case len(gone) == 0 && pods:
		p.why = "a controller may wait five minutes for the events of Pods that it created"
	case len(gone) == 0:
		p.why = "no dependent that it watches is created again"
	case f.anyEdit() == nil && len(f.history) > 0:
		p.why = "how many dependents it wants after an edit is not known: it keeps what it had before"
	case f.anyEdit() == nil:
		p.why = f.untold("no field of its sample's spec, edited, wakes it after the loss", editing)
	}
	p.user = append(p.user, casefile.Action{Manifests: s.owner.text()}, casefile.Action{Verb: "settle"})
	p.user = slices.Concat(p.user, gone, free, f.edited(f.anyEdit()))
	return p
}

// expectNothing adds checks for the time after the sample's deletion. No dependents may exist, unless the policy is
// Orphan. Of the objects that the controller itself deletes, no more may exist than after a quiet run. The second check
// excludes the fault "stale": a controller that starts from an older list may create these objects again.
func (f *found) expectNothing(s *operator, p *place, policy metav1.DeletionPropagation) {
	if len(f.dependents) > 0 && policy != metav1.DeletePropagationOrphan {
		p.settledCheck = both(f.nothingOf(s.owner), claimsStay(s.owner))
	}
	c := f.cleans[policy]
	if gone := cleared(s.owner, c.removes); gone != nil {
		p.settledCheck, p.faults = both(p.settledCheck, gone), atWork
	}
	if len(p.objects) == 1 {
		p.why = f.known("no second owner can stand beside the one that is deleted")
	}
}

// alike describes two owners whose names a controller may confuse.
type alike struct {
	why         string     // the reason why the owners are not tested, or ""
	beside      []manifest // the objects that the owners need
	first, last manifest   // the user deletes the first one
	alone       []remains  // for each kind: the objects without owner references if only the last owner exists
	status      any        // of the last owner then
}

// otherNamespace is the namespace of an owner that has the name of the sample.
const otherNamespace = "threelaws-elsewhere"

// alsoElsewhere adds to objects in the sample's namespace the objects with the same names in the other namespace.
func (s *operator) alsoElsewhere(all []sim.Ref) []sim.Ref {
	for _, o := range slices.Clone(all) {
		if o.Namespace != "" && o.Namespace == s.owner.GetNamespace() {
			o.Namespace, o.UID = otherNamespace, ""
			all = append(all, o)
		}
	}
	return all
}

// mostName is the length of the longest name that is valid for each kind and as a label value.
const mostName = 63

// confused finds the facts for the cases other-namespace and long-names.
func (f *found) confused(s *operator) (err error) {
	far := alike{beside: []manifest{namespace(otherNamespace)}, first: s.owner, last: manifest{s.owner.DeepCopy()}}
	far.last.SetNamespace(otherNamespace)
	for _, m := range s.around {
		if m.GetNamespace() == s.owner.GetNamespace() {
			c := manifest{m.DeepCopy()}
			c.SetNamespace(otherNamespace)
			far.beside = append(far.beside, c)
		}
	}
	if s.owner.GetNamespace() == "" {
		far.why = "its owners have no namespace"
	} else if err = f.apart(s, &far); err == nil && far.why == "" {
		err = f.together(s, &far)
	}
	if f.far = far; err != nil {
		return err
	}
	long := alike{first: s.owner, last: f.second}
	switch room := mostName - len(s.owner.GetName()) - len("--a"); {
	case f.second.Unstructured == nil:
		long.why = "there is no second owner"
	case f.active(s, f.pair) < f.active(s, f.dependents) || f.active(s, f.seconds) < f.active(s, f.dependents):
		long.why = "beside a second owner, one has fewer dependents than alone"
	case room < 1:
		long.why = "the name of the sample is long already"
	default:
		name := s.owner.GetName() + "-" + strings.Repeat("x", room)
		long.first, long.last = s.owner.renamed(name+"-a"), f.second.renamed(name+"-b")
		err = f.apart(s, &long)
	}
	f.long = long
	return err
}

// apart runs a world with only the last owner. The two owners are not tested if the last one has fewer dependents than
// the sample.
func (f *found) apart(s *operator, a *alike) error {
	if s.lasts > 0 {
		a.why = "the number of objects depends on the time"
		return nil
	}
	r, err := s.run(append(slices.Clone(a.beside), a.last)...)
	if err != nil {
		a.why = "no such owner can be made: " + err.Error()
		return s.over()
	}
	defer r.Stop()
	kinds := f.unowned()
	a.alone, a.status = r.remains(kinds), r.shown(a.last).Object["status"]
	switch {
	case len(f.dependents)+len(kinds) == 0:
		a.why = "it creates nothing for its owners"
	case r.writesOn(): // that is for the case to show
		return nil
	case !r.settled:
		a.why = "with only such an owner, the world does not settle" + r.logged()
	}
	if has, wants := f.active(s, r.controlled(a.last, f.owns)), f.active(s, f.dependents); a.why == "" && has != wants {
		a.why = fmt.Sprintf("an owner with the name %s has %d dependents, and the sample has %d", a.last.GetName(), has, wants)
	}
	return nil
}

// together runs a world with both owners. The two owners are not tested if one of them has fewer dependents than alone.
// The controller may reserve names for all namespaces.
func (f *found) together(s *operator, a *alike) error {
	r, err := s.run(append(slices.Clone(a.beside), a.last, a.first)...)
	if err != nil {
		a.why = "both owners cannot be made: " + err.Error()
		return s.over()
	}
	defer r.Stop()
	for _, owner := range []manifest{a.first, a.last} {
		switch {
		case r.writesOn() || r.overwrites(): // the owners fight, as the case shows
		case !r.settled:
			a.why = "beside such an owner, the world does not settle" + r.logged()
		case f.active(s, r.controlled(owner, f.owns)) != f.active(s, f.dependents):
			a.why = "beside such an owner, one has fewer dependents than alone"
		}
	}
	return nil
}

// unowned returns the kinds of which the controller creates objects without references to their owner.
func (f *found) unowned() (kinds []schema.GroupVersionKind) {
	for _, made := range f.creates {
		if slices.Contains([]string{none, outlives, tended, afar}, made.how) {
			kinds = appendOnce(kinds, made.kind)
		}
	}
	return kinds
}

// confusing is a case: there are two owners with similar names, and one of them is edited and deleted.
func (f *found) confusing(name string, a *alike) place {
	if a.first.Unstructured == nil {
		return place{name: name, why: cmp.Or(a.why, f.unsettled)}
	}
	p := place{name: name, why: a.why, settled: true, faults: atWork, objects: append(slices.Clone(a.beside), a.first, a.last)}
	if e := f.anyEdit(); e != nil {
		p.user = append(p.user, patch(a.first.at(), e.patch(e.to)))
	}
	p.user = append(p.user, verbs("settle", "delete "+a.first.at()+" --cascade=background")...)
	p.settledCheck = a.spared
	var allowed []remains // the edited owner leaves nothing either
	for _, r := range f.cleans[metav1.DeletePropagationBackground].removes {
		for _, quiet := range a.alone {
			if quiet.kind == r.kind {
				allowed = append(allowed, quiet)
			}
		}
	}
	if gone := cleared(a.first, allowed); gone != nil {
		p.settledCheck = both(p.settledCheck, gone)
	}
	return p
}

// spared returns an error if, after the deletion of the first owner, there are fewer objects without references than
// with only the last owner, and the last owner's status does not show it.
func (a *alike) spared(user host.Client) error {
	get := func(m manifest) (runtime.Object, error) {
		return user.Get(context.Background(), m.GroupVersionKind(), m.GetNamespace(), m.GetName())
	}
	if _, err := get(a.first); err == nil {
		return nil
	}
	last, err := get(a.last)
	if err != nil || !sameStatus(object(last)["status"], a.status) {
		return nil
	}
	for _, quiet := range a.alone {
		list, err := user.List(context.Background(), quiet.kind, "", metav1.ListOptions{})
		if err != nil {
			return err
		}
		if n := len(slices.DeleteFunc(list, referring)); n < len(quiet.objects) {
			return fmt.Errorf("the deletion of %s took a %s from %s: %d of them exist, and %d if there is only this owner",
				a.first.at(), quiet.kind.Kind, a.last.at(), n, len(quiet.objects))
		}
	}
	return nil
}
