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

// cleanUp is what the controller does, when its owner is deleted in a quiet world, with objects that no reference to
// the owner holds: those of the cluster, of other namespaces, and those that it finds by labels or by a name that it
// has noted.
type cleanUp struct {
	removes []remains // kinds of which it deletes objects, and what is left of them beside a second owner
	there   []remains // what there is of those kinds before the deletion
	leaves  []schema.GroupVersionKind
}

// remains are the objects of a kind that are there after the deletion of one of two owners.
type remains struct {
	kind  schema.GroupVersionKind
	names map[string]bool // "namespace/name"
}

// cleansUp looks what becomes of objects without a reference when the sample is deleted by a policy, alone and beside
// a second owner.
func (f *found) cleansUp(s *subject, policy metav1.DeletionPropagation) (c cleanUp, err error) {
	var kinds []schema.GroupVersionKind
	for _, made := range f.creates {
		if (made.how == none || made.how == outlives || made.how == afar) && !slices.Contains(kinds, made.kind) {
			kinds = append(kinds, made.kind)
		}
	}
	if len(kinds) == 0 || s.lasts > 0 || f.second.Unstructured == nil {
		return c, nil
	}
	alone, had, err := s.left(policy, kinds, s.owner)
	if err != nil || alone == nil {
		return c, err
	}
	beside, there, err := s.left(policy, kinds, s.owner, f.second)
	if err != nil || beside == nil {
		return c, err
	}
	for i, kind := range kinds {
		switch {
		case len(alone[i].names) < len(had[i].names):
			c.removes, c.there = append(c.removes, beside[i]), append(c.there, there[i])
		case len(had[i].names) > 0 && len(f.finalizers) > 0:
			c.leaves = append(c.leaves, kind)
		}
	}
	return c, nil
}

// left is what there is of some kinds in a quiet world before and after the deletion of the first owner; nil after one
// that does not end.
func (s *subject) left(policy metav1.DeletionPropagation, kinds []schema.GroupVersionKind, owners ...manifest) (
	after, before []remains, err error,
) {
	r, err := s.run(owners...)
	if err != nil {
		return nil, nil, err
	}
	defer r.Stop()
	before = r.remains(kinds)
	if err := r.remove(owners[0], policy); err != nil || !r.settled || r.stored(owners[0]) != nil {
		return nil, nil, nil // the cases of deletion say why
	}
	return r.remains(kinds), before, nil
}

func (r *quiet) remains(kinds []schema.GroupVersionKind) (list []remains) {
	for _, gvk := range kinds {
		here := remains{gvk, map[string]bool{}}
		r.Server.Each(r.Server.Kind(gvk), func(o runtime.Object) bool {
			here.names[fullName(o)] = true
			return true
		})
		list = append(list, here)
	}
	return list
}

func fullName(o runtime.Object) string {
	m := o.(metav1.Object)
	return m.GetNamespace() + "/" + m.GetName()
}

// cleared asks that an owner which is gone has left no more than there is without it.
func cleared(owner manifest, without []remains) scenarios.Func {
	if len(without) == 0 {
		return nil
	}
	return func(user host.Client) error {
		if _, err := user.Get(context.Background(), owner.GroupVersionKind(), owner.GetNamespace(), owner.GetName()); err == nil {
			return nil
		}
		for _, quiet := range without {
			list, err := user.List(context.Background(), quiet.kind, "", metav1.ListOptions{})
			if err != nil {
				return err
			}
			if len(list) <= len(quiet.names) {
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

// delays are how many things the user does before an early deletion that concern no controller. In most drawn schedules
// what the user does first happens before a controller has done anything.
const delays = 6

// early is the world in which the sample is deleted while its controller still works on its creation.
func (f *found) early(s *subject) place {
	p := place{name: "deleted/early", faults: few, objects: f.both(s)}
	for i := range delays {
		p.user = append(p.user, verbs(fmt.Sprintf("label ns/default %s=%d", other, i))...)
	}
	p.user = append(p.user, verbs("delete "+f.of+" --cascade=background")...)
	f.expectNothing(s, &p, metav1.DeletePropagationBackground)
	if f.second.Unstructured == nil {
		p.why = "no second owner can stand beside the one that is deleted"
	}
	return p
}

// unseen is the world in which an owner is created and deleted while the controller is not shown what it has created
// for it.
func (f *found) unseen(s *subject) place {
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
		p.why = "nothing that it watches is out of the reach of a reference to the owner, and deleted with it"
		return p
	}
	p.user = append(p.user, casefile.Apply(late.text()), casefile.Verb("settle"),
		casefile.Verb("delete "+late.at()+" --cascade=background"), casefile.Verb("settle"))
	p.user = append(p.user, free...)
	p.atRest = cleared(late, c.there)
	return p
}

// dependentUnseen is the world in which a dependent is created and deleted before the controller is shown it, and a gap
// in the controller's watch hides both.
func (f *found) dependentUnseen(s *subject) place {
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
		gone = append(gone, casefile.Verb("delete "+d.at()))
		free = append(free, verbs("relist "+s.Controller.Name+" "+d.GetKind(), "release "+seen)...)
	}
	switch {
	case len(f.dependents) == 0:
		p.why = "it has no dependents: what it creates has no ControllerRef to its owner"
	case s.lasts > 0:
		p.why = "what its dependents are named for goes by the clock"
	case len(gone) == 0:
		p.why = "no dependent that it watches is created again"
	}
	p.user = append(append(p.user, casefile.Apply(s.owner.text()), casefile.Verb("settle")), append(gone, free...)...)
	return p
}

// expectNothing asks in a world in which the sample is deleted that nothing of it is left but what a quiet deletion
// leaves. Where that goes by what the controller deletes itself, no process starts from an older list: it would take
// the owner for one that is there.
func (f *found) expectNothing(s *subject, p *place, policy metav1.DeletionPropagation) {
	if len(f.dependents) > 0 && policy != metav1.DeletePropagationOrphan {
		p.atRest = f.nothingOf(s.owner)
	}
	c := f.cleans[policy]
	if gone := cleared(s.owner, c.removes); gone != nil {
		p.atRest, p.faults = both(p.atRest, gone), atWork
	}
}
