package check

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/casefile"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// deletions finds, for each deletion policy, what the controller itself deletes after the sample was deleted:
// dependents, or objects without a reference to the sample.
func (f *found) deletions(s *operator) error {
	for _, policy := range policies {
		r, err := s.run(s.owner)
		if err != nil {
			return err
		}
		holding := slices.DeleteFunc(slices.Clone(s.around), func(m manifest) bool { return added(m, r.stored(m)) == "" })
		users := slices.DeleteFunc(slices.Clone(s.around), func(m manifest) bool { return metav1.GetControllerOf(r.shown(m)) != nil })
		before := conditionsOf(r.shown(s.owner))
		if err := r.remove(s.owner, policy); err != nil {
			f.doubt(deleting + ": " + err.Error())
		} else if !r.settled {
			f.doubt(deleting + ": " + notSettled + " after the deletion of its owner")
		}
		if s.finish(r) {
			r.Stop()
			return errMore
		}
		f.takes[policy] = slices.ContainsFunc(r.writes(), func(rec *sim.Record) bool {
			return rec.Verb == "delete" && slices.ContainsFunc(f.owns, func(gvk schema.GroupVersionKind) bool {
				return gvk.Kind == rec.Object.Kind
			})
		})
		for _, d := range f.dependents {
			if o, is := r.stored(d).(metav1.Object); is && metav1.GetControllerOf(o) == nil {
				f.orphans[policy] = append(f.orphans[policy], d)
			}
		}
		if policy == metav1.DeletePropagationBackground {
			f.protects = r.settled && r.stored(s.owner) != nil && r.explains(s.owner, before)
		}
		f.handed(s, r)
		f.fails(s, r)
		if err = nil; policy == metav1.DeletePropagationBackground && r.settled && s.lasts == 0 && r.stored(s.owner) == nil {
			f.goes, f.frees = true, slices.DeleteFunc(holding, func(m manifest) bool { return added(m, r.stored(m)) != "" })
			err = f.losses(s, r, users)
		}
		if r.Stop(); err != nil {
			return err
		}
		if f.cleans[policy], err = f.cleansUp(s, policy); err != nil {
			return err
		}
	}
	return nil
}

// tends finds the kinds of which the controller deletes all objects that it created for the sample, before its
// finalizer lets the sample go. These objects need no owner reference.
func (f *found) tends(s *operator) error {
	if len(f.bare) == 0 || len(f.finalizers) == 0 || s.lasts > 0 || len(s.Controller.Owns) > 0 {
		return nil
	}
	r, err := s.run(s.owner)
	if err != nil {
		return err
	}
	defer r.Stop()
	if err := r.remove(s.owner, metav1.DeletePropagationBackground); err != nil || !r.settled || r.stored(s.owner) != nil {
		return nil // the cases that delete the sample show why
	}
	gone := func(o sim.Ref) bool {
		return slices.ContainsFunc(r.writes(), func(rec *sim.Record) bool {
			return rec.Verb == "delete" && rec.Object.Kind == o.Kind && rec.Object.Namespace == o.Namespace && rec.Object.Name == o.Name
		})
	}
	for i := range f.creates {
		c := &f.creates[i]
		all := ofKind(f.bare, c.kind)
		if c.how != none || len(all) == 0 || slices.Contains(f.creates, creation{c.kind, controls}) ||
			slices.ContainsFunc(all, func(o sim.Ref) bool { return !gone(o) }) {
			continue
		}
		c.how = tended
		is := func(gvk schema.GroupVersionKind) bool { return gvk == c.kind }
		f.owns, f.asleep = slices.DeleteFunc(f.owns, is), slices.DeleteFunc(f.asleep, is)
	}
	return nil
}

var policies = []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground,
	metav1.DeletePropagationOrphan}

// usersKinds are kinds of objects that a user fills, and that owners use by name.
var usersKinds = []string{"Secret", "ConfigMap", "PersistentVolumeClaim", "ServiceAccount"}

// losses finds the user's objects that no longer exist after the sample's deletion, although the sample only names them.
// An object that the controller adopts may be its dependent. So may an object of a kind that it creates, at least if the
// object is missing, and an object that is marked with the API group of the sample.
func (f *found) losses(s *operator, r *quiet, users []manifest) error {
	for _, m := range users {
		if !slices.Contains(usersKinds, m.GetKind()) || r.stored(m) != nil || !s.names(m) || len(m.GetOwnerReferences()) > 0 ||
			strings.Contains(m.text(), s.owner.GroupVersionKind().Group) ||
			slices.ContainsFunc(f.creates, func(c creation) bool { return c.kind == m.GroupVersionKind() }) {
			continue
		}
		others := slices.DeleteFunc(slices.Clone(s.around), m.same)
		without, err := s.drawn(append(others, s.owner), nil, nil)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(without.writes(), func(rec *sim.Record) bool {
			return rec.Before == nil && rec.Object.Kind == m.GetKind()
		}) {
			f.loses = append(f.loses, m)
		}
		without.Stop()
	}
	return nil
}

// protection matches the reasons and messages of a controller that does not let go of its owner on purpose.
var protection = regexp.MustCompile(`(?i)protect|block|prevent|forbid|refus|denied|\bin.use\b|inuse|retain`)

// explains reports whether a condition that a terminating owner did not have before, or an Event, says that the owner is
// kept on purpose.
func (r *quiet) explains(owner manifest, before []map[string]any) bool {
	for _, c := range conditionsOf(r.shown(owner)) {
		if slices.ContainsFunc(before, func(was map[string]any) bool { return reflect.DeepEqual(was, c) }) {
			continue
		}
		for _, field := range []string{"type", "reason", "message"} {
			if text, _ := c[field].(string); protection.MatchString(text) {
				return true
			}
		}
	}
	return slices.ContainsFunc(r.writes(), func(rec *sim.Record) bool {
		o, is := rec.After.(runtime.Object)
		if !is || rec.Object.Kind != "Event" {
			return false
		}
		reason, _, _ := unstructured.NestedString(object(o), "reason")
		message, _, _ := unstructured.NestedString(object(o), "message")
		return protection.MatchString(reason) || protection.MatchString(message)
	})
}

// conditionsOf returns the conditions in the status of an object.
func conditionsOf(m manifest) (list []map[string]any) {
	all, _, _ := unstructured.NestedSlice(m.Object, "status", "conditions")
	for _, c := range all {
		if c, is := c.(map[string]any); is {
			list = append(list, c)
		}
	}
	return list
}

// added returns a finalizer of a stored object that its manifest does not have, or "".
func added(m manifest, stored any) string {
	for _, name := range finalizersOf(stored) {
		if !slices.Contains(m.GetFinalizers(), name) && !strings.HasPrefix(name, "kubernetes.io/") {
			return name
		}
	}
	return ""
}

// holdsBack matches fields that may, on purpose, delay the deletion of their owner, or keep what it leaves.
var holdsBack = regexp.MustCompile("(?i)delet|protect|prevent|retain|reclaim|keep|destroy|lock|terminat|finali|policy|clean|purge|" +
	"wipe|preserve|remove|orphan")

// stranded deletes the sample after an edit, and sets e.ends. The edit is recorded in f.strands if the sample then
// stays terminating and the controller reports nothing, or if a finalizer or an object stays that the controller
// removes without the edit. An edit of a number is also tried with its undoing.
func (f *found) stranded(s *operator, r *quiet, e *edit) error {
	if !f.goes || len(f.finalizers) == 0 || !r.settled {
		return nil
	}
	if r.merge(s.owner, e.patch(e.to)) != nil || r.remove(s.owner, metav1.DeletePropagationBackground) != nil || !r.settled {
		return s.over()
	}
	now := r.shown(s.owner)
	r.began = 0
	switch e.ends = r.stored(s.owner) == nil; {
	case f.strands != nil:
	case e.ends && slices.ContainsFunc(f.frees, func(m manifest) bool { return added(m, r.stored(m)) != "" }),
		e.ends && !holdsBack.MatchString(e.name) && !r.complains() && f.litters(r),
		!e.ends && !holdsBack.MatchString(e.name) && !r.complains() && r.lastError() == s.complaint &&
			sameStatus(now.Object["status"], f.base.status()):
		f.strands = e
	}
	if _, number := e.was.(int64); !number || f.strands != nil || len(f.cleans[metav1.DeletePropagationBackground].alone) == 0 {
		return nil
	}
	undone, err := s.run(s.owner)
	if err != nil {
		return err
	}
	defer undone.Stop()
	if undone.merge(s.owner, e.patch(e.to)) == nil && undone.merge(s.owner, e.patch(e.from)) == nil &&
		undone.remove(s.owner, metav1.DeletePropagationBackground) == nil && undone.settled && undone.stored(s.owner) == nil && f.litters(undone) {
		f.strands, f.undone = e, true
	}
	return s.over()
}

// litters reports whether the deletion of the sample has left more objects without references than it leaves without
// an edit.
func (f *found) litters(r *quiet) bool {
	return slices.ContainsFunc(f.cleans[metav1.DeletePropagationBackground].alone, func(quiet remains) bool {
		now := r.remains([]schema.GroupVersionKind{quiet.kind})[0]
		return len(now.objects) > len(quiet.objects) && !now.in(quiet)
	})
}

// editedAndDeleted is a case: the sample is edited and then deleted. There is no other owner that could use the user's
// objects.
func (f *found) editedAndDeleted(s *operator) place {
	p := place{name: "edited-and-deleted", objects: []manifest{s.owner}, settled: true, faults: atWork, settledCheck: f.returned(s)}
	e := f.strands
	for _, o := range f.follows() {
		if e == nil && o.ends {
			e = o
		}
	}
	switch {
	case len(f.finalizers)+len(f.loses) == 0:
		p.why = f.known("it puts no finalizers on objects, and deletes no object of the user", deleting)
	case !f.goes:
		p.why = f.known("in a quiet run, its deleted sample still exists at the end", deleting)
	case e != nil:
		p.user = append(p.user, patch(f.of, e.patch(e.to)), casefile.Action{Verb: "settle"})
		if f.undone {
			p.user = append(p.user, patch(f.of, e.patch(e.from)), casefile.Action{Verb: "settle"})
		}
		p.settledCheck = both(p.settledCheck, cleared(s.owner, f.cleans[metav1.DeletePropagationBackground].alone))
	}
	p.user = append(p.user, verbs("delete "+f.of+" --cascade=background")...)
	return p
}

// returned returns a check for the time without an owner. The objects of f.loses must exist, and those of f.frees must
// have no finalizers of the controller.
func (f *found) returned(s *operator) scenarios.Func {
	return func(user host.Client) error {
		owners, err := user.List(context.Background(), s.owner.GroupVersionKind(), "", metav1.ListOptions{})
		if err != nil || len(owners) > 0 {
			return err
		}
		for _, m := range slices.Concat(f.loses, f.frees) {
			o, err := user.Get(context.Background(), m.GroupVersionKind(), m.GetNamespace(), m.GetName())
			if err != nil && slices.Contains(f.loses, m) {
				return fmt.Errorf("%s, which the user created, was deleted with %s: if it is missing, the controller does not create it",
					m.at(), f.of)
			}
			if err == nil && added(m, o) != "" && slices.Contains(f.frees, m) {
				return fmt.Errorf("%s keeps the finalizer %s, although %s is gone", m.at(), added(m, o), f.of)
			}
		}
		return nil
	}
}

// holds records the finalizers that a write of the controller adds.
func (f *found) holds(rec *sim.Record, after metav1.Object) {
	for _, name := range after.GetFinalizers() {
		if b, ok := rec.Before.(metav1.Object); ok && slices.Contains(b.GetFinalizers(), name) ||
			strings.HasPrefix(name, "kubernetes.io/") { // the server adds kubernetes.io/pvc-protection at creation
			continue
		}
		f.finalizers = appendOnce(f.finalizers, name)
	}
}

// inherited finds finalizers in the sample's manifest that the controller removes, such as finalizers of an earlier
// version. The test adds another program's finalizer. If the controller removes this one too, nothing is found.
func (f *found) inherited(s *operator) error {
	listed := s.owner.GetFinalizers()
	if len(listed) == 0 {
		return nil
	}
	owner := manifest{s.owner.DeepCopy()}
	owner.SetFinalizers(append([]string{hold}, listed...))
	r, err := s.run(owner)
	if err != nil {
		return err
	}
	defer r.Stop()
	now := r.shown(owner).GetFinalizers()
	if !slices.Contains(now, hold) {
		return nil // the controller removes any finalizer
	}
	for _, name := range listed {
		if !slices.Contains(now, name) {
			f.finalizers = appendOnce(f.finalizers, name)
		}
	}
	return nil
}

// handed finds finalizers that one controller of the program adds and another one removes. It records them as
// finalizers of the controller that removes them.
func (f *found) handed(s *operator, r *quiet) {
	ours := func(process string) bool {
		return process == r.process || slices.ContainsFunc(s.Others, named(process))
	}
	put := map[string]string{} // finalizer -> the process that added it
	for i := range r.World.History.Len() {
		rec := r.World.History.At(i)
		if rec.Op != sim.Commit || !ours(rec.Process) {
			continue
		}
		before, after := finalizersOf(rec.Before), finalizersOf(rec.After)
		for _, name := range after {
			if !slices.Contains(before, name) {
				put[name] = rec.Process
			}
		}
		for _, name := range before {
			if by := put[name]; by == "" || by == rec.Process || slices.Contains(after, name) {
				continue
			}
			if rec.Process == r.process {
				f.finalizers = appendOnce(f.finalizers, name)
				continue
			}
			s.Others = slices.Clone(s.Others)
			c := &s.Others[slices.IndexFunc(s.Others, named(rec.Process))].Contract
			c.Finalizers = appendOnce(slices.Clone(c.Finalizers), name)
		}
	}
}

// retries is the number of equal errors after which a program counts as failing for ever.
const retries = 3

// fails records that the program cannot remove its finalizer from the deleted sample, because it fails as it has failed
// before the deletion. Its environment is incomplete, for example without a Secret, so the finalizer is not judged.
func (f *found) fails(s *operator, r *quiet) {
	last, times := render.LastError(r.printed())
	if s.complaint != "" && times >= retries && f.stuck == "" && len(finalizersOf(r.stored(s.owner))) > 0 {
		f.stuck = last
	}
}

func named(process string) func(host.Controller) bool {
	return func(c host.Controller) bool { return c.Name == process }
}

func finalizersOf(o any) []string {
	if m, is := o.(metav1.Object); is {
		return m.GetFinalizers()
	}
	return nil
}
