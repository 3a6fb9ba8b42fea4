package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/casefile"
	"github.com/threelaws/threelaws/sim/host"
)

// ends are the worlds in which the sample is deleted, by each policy, and made again.
func (f *found) ends(s *subject) (all []place) {
	for _, policy := range policies {
		p := place{name: "deleted/" + propagation(policy), sameEnd: policy != metav1.DeletePropagationOrphan, settled: true, faults: few, objects: f.both(s),
			user: verbs("delete " + s.owner.at() + " --cascade=" + propagation(policy))}
		f.expectNothing(s, &p, policy)
		switch {
		case len(f.dependents) == 0 || policy != metav1.DeletePropagationOrphan:
		case s.lasts > 0: // they may be deleted by the clock
		case !f.adopts && !f.byName && !f.applies && !f.takesByFinalizer(policy): // else they may be adopted again, or it took them
			p.atRest, p.faults = both(p.atRest, f.stillThere()), atWork
		}
		if f.second.Unstructured == nil {
			p.why = "no second owner can stand beside the one that is deleted"
		}
		all = append(all, p)
	}
	all = append(all, f.early(s), f.unseen(s))
	for _, policy := range policies {
		p := place{name: "recreated/" + propagation(policy), settled: true, faults: few, objects: f.both(s),
			user: verbs("delete " + s.owner.at() + " --cascade=" + propagation(policy))}
		if policy != metav1.DeletePropagationBackground {
			p.user = append(p.user, casefile.Verb("settle")) // until then it holds its name
		}
		p.user = append(p.user, f.again(s)...)
		if policy == metav1.DeletePropagationOrphan && !f.adopts {
			for _, d := range f.pair { // what was left to nobody stands in its way, and goes in the end
				if f.gives(d) && !(f.byName && f.createsOnce(d)) {
					p.user = append(p.user, gone(d))
				}
			}
		}
		all = append(all, p)
	}
	return append(all, f.held(s), f.going(s), f.restored(s))
}

// again makes the sample anew, as another than it was where the controller follows that,
// and then goes on editing it: what belongs to the one that is gone must not follow.
func (f *found) again(s *subject) []casefile.Action {
	next, back := manifest{s.owner.DeepCopy()}, map[string]any{}
	if f.change != nil {
		f.change.set(next.Object, f.change.to)
		join(back, f.change.patch(f.change.from), true)
	}
	if n, ok := f.less(); ok {
		join(back, f.scale.patch(n), true)
	}
	if len(back) == 0 {
		return []casefile.Action{casefile.Apply(next.text())}
	}
	return []casefile.Action{casefile.Apply(next.text()), patch(f.of, back)}
}

// held is the world in which somebody else's finalizer holds the sample after it was
// deleted: it is there as long as that is. A controller that puts finalizers itself races with the user who adds that one:
// the list is there from the beginning, so that it can be added to.
func (f *found) held(s *subject) place {
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
	p.user = append(p.user, casefile.Verb("delete "+f.of+" --cascade=background"))
	p.atRest = func(user host.Client) error {
		o, err := user.Get(context.Background(), s.owner.GroupVersionKind(), s.owner.GetNamespace(), s.owner.GetName())
		if err != nil || !slices.Contains(o.(metav1.Object).GetFinalizers(), hold) {
			return fmt.Errorf("%s has lost the finalizer %s, which is somebody else's", f.of, hold)
		}
		return nil
	}
	return p
}

// takesByFinalizer reports whether the controller holds its owner until it has deleted the dependents. Without
// a finalizer of its own it has no say in what an owner is deleted by.
func (f *found) takesByFinalizer(policy metav1.DeletionPropagation) bool {
	return f.takes[policy] && len(f.finalizers) > 0
}

// nothingOf asks that no dependent is left of an owner that is gone.
func (f *found) nothingOf(owner manifest) scenarios.Func {
	return f.eachLeft(func(o metav1.Object, kind string) error {
		for _, ref := range o.GetOwnerReferences() {
			if ref.Kind == owner.GetKind() && ref.Name == owner.GetName() {
				return fmt.Errorf("%s/%s is left of %s, which is gone", strings.ToLower(kind), o.GetName(), owner.at())
			}
		}
		return nil
	})
}

// eachLeft asks something of all objects of the kinds that the controller makes.
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

// stillThere asks that the dependents of an owner are there after they were orphaned.
func (f *found) stillThere() scenarios.Func {
	left := f.pair
	return func(user host.Client) error {
		for _, d := range left {
			_, err := user.Get(context.Background(), d.GroupVersionKind(), d.GetNamespace(), d.GetName())
			if err != nil {
				return fmt.Errorf("%s is gone, though its owner was to leave it", d.at())
			}
		}
		return nil
	}
}
