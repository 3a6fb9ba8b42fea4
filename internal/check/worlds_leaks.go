package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/casefile"
	"github.com/threelaws/threelaws/sim/host"
)

// cleanUp lists the objects that the controller deletes after their owner. These objects do not refer to the owner:
// they are cluster-scoped or in other namespaces, or the controller finds them by labels or recorded names.
type cleanUp struct {
	removes []remains                 // for each deleted kind: the objects that remain if there is a second owner
	there   []remains                 // for each deleted kind: the objects of both owners before the deletion
	leaves  []schema.GroupVersionKind // kinds that the controller does not delete
}

// remains contains the names of the objects of a kind without owner references, before or after an owner is deleted.
type remains struct {
	kind  schema.GroupVersionKind
	names map[string]bool // "namespace/name"
}

func (r remains) in(other remains) bool {
	for name := range r.names { //detcheck:ordered all must be there
		if !other.names[name] {
			return false
		}
	}
	return true
}

// cleansUp finds the kinds whose objects the controller deletes after the sample, although they do not refer to it. It
// deletes the sample in two worlds: one without and one with a second owner.
func (f *found) cleansUp(s *operator, policy metav1.DeletionPropagation) (c cleanUp, err error) {
	var kinds []schema.GroupVersionKind
	for _, made := range f.creates {
		if made.how == none || made.how == outlives || made.how == afar {
			kinds = appendOnce(kinds, made.kind)
		}
	}
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
		case len(had[i].names) > 0 && len(f.finalizers) > 0:
			c.leaves = append(c.leaves, kind)
		}
	}
	return c, nil
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
		here := remains{gvk, map[string]bool{}}
		r.Server.Each(r.Server.Kind(gvk), func(o runtime.Object) bool {
			if !referring(o) {
				here.names[fullName(o)] = true
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
			if list = slices.DeleteFunc(list, referring); len(list) <= len(quiet.names) {
				continue
			}
			for _, o := range list {
				if !quiet.names[fullName(o)] {
					return fmt.Errorf("%s/%s is left of %s, which is gone; its controller deletes it in a quiet world",
						strings.ToLower(quiet.kind.Kind), o.(metav1.Object).GetName(), owner.at())
				}
			}
		}
		return nil
	}
}

// delays is the number of user actions before the deletion in the case deleted/early. Without them, most random
// schedules would delete the sample before any controller runs.
const delays = 6

// early is a case: the sample is deleted while its controller still creates dependents.
func (f *found) early(s *operator) place {
	p := place{name: "deleted/early", faults: few, objects: f.both(s)}
	for i := range delays {
		p.user = append(p.user, verbs(fmt.Sprintf("label ns/default %s=%d", other, i))...)
	}
	p.user = append(p.user, verbs("delete "+f.of+" --cascade=background")...)
	f.expectNothing(s, &p, metav1.DeletePropagationBackground)
	return p
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
	for _, d := range f.each() {
		if !slices.Contains(f.watches, d.GetKind()) || slices.Contains(f.asleep, d.GroupVersionKind()) ||
			f.createsOnce(d) || d.GetKind() == "Pod" {
			continue
		}
		seen := s.Controller.Name + " sees=" + d.GetKind()
		p.user = append(p.user, verbs("hold "+seen)...)
		gone = append(gone, casefile.Action{Verb: "delete " + d.at()})
		free = append(free, verbs("relist "+s.Controller.Name+" "+d.GetKind(), "release "+seen)...)
	}
	switch {
	case len(f.dependents) == 0:
		p.why = f.childless()
	case s.lasts > 0:
		p.why = "the names of its dependents depend on the time"
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
		p.settledCheck = f.nothingOf(s.owner)
	}
	c := f.cleans[policy]
	if gone := cleared(s.owner, c.removes); gone != nil {
		p.settledCheck, p.faults = both(p.settledCheck, gone), atWork
	}
	if f.second.Unstructured == nil {
		p.why = f.known("no second owner can stand beside the one that is deleted")
	}
}
