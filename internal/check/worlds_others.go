package check

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/casefile"
	"github.com/threelaws/threelaws/sim/host"
)

// theirName is the name of a copy of a dependent that another object owns: see found.named.
const theirName = "threelaws-others"

// lookalikes returns the cases with objects that look like dependents.
func (f *found) lookalikes(s *operator) []place {
	orphans := place{name: "orphan", objects: f.both(s), faults: few}
	others := place{name: "somebody-elses", objects: f.both(s), faults: few, graverThan: orphans.name}
	race := place{name: "rival-for-an-orphan", objects: f.both(s), faults: few}
	dying := f.dying(s)
	all := []*place{&orphans, &others, &race, &dying}
	rival := f.rival(s)
	if why := f.lone(rival); why != "" {
		return barred(why, all)
	}
	race.objects = append([]manifest{rival}, race.objects...)
	others.objects = append([]manifest{rival}, others.objects...)
	for _, d := range f.each() {
		o := d.copied(f.named(stray, d))
		if err := s.makes(o); err != nil {
			return barred("no copy of a "+d.GetKind()+" can be made: "+err.Error(), all)
		}
		theirs := o.renamed(f.named(theirName, d))
		orphans.objects = append([]manifest{o}, orphans.objects...)
		orphans.user = append(orphans.user, verbs("label "+o.at()+" "+other+"=yes")...)
		others.objects = append(others.objects, owned(theirs, rival))
		others.user = append(others.user, verbs("label "+theirs.at()+" "+other+"=yes")...)
		race.objects = append(race.objects, o)
		race.user = append(race.user, patch(o.at(), map[string]any{"metadata": map[string]any{
			"ownerReferences": []any{reference(rival)}}}))
		if !expires(d) {
			others.settledCheck = both(others.settledCheck, stays(theirs, rival))
		}
	}
	others.settledCheck = both(others.settledCheck, f.miscounts(s, rival))
	if !f.adopts {
		race.why = "it adopts nothing: a copy of a dependent stayed an orphan"
		if f.byName {
			race.why = "it adopts only objects with the name of a dependent: a copy of a dependent stayed an orphan"
		}
		race.why = f.known(race.why, adopting)
		if len(dying.user) == 0 {
			dying.why = race.why
		}
	}
	return barred("", all)
}

// dying is a case: an orphan that the controller would adopt is being deleted, and a finalizer of another program delays
// the deletion. If the controller adopts by name, the orphan has the name of a dependent.
func (f *found) dying(s *operator) place {
	p := place{name: "terminating-orphan", objects: f.both(s), faults: few}
	if !f.adopts {
		p.faults = atWork // as in the case name-taken
	}
	var freed []casefile.Action
	for _, d := range f.each() {
		name := f.named("threelaws-going", d)
		if !f.adopts {
			name = d.GetName()
		}
		if !f.adopts && (!f.byName || !f.gives(d) || f.createsOnce(d)) {
			continue
		}
		going := d.copied(name)
		going.SetFinalizers([]string{hold})
		p.objects = append(p.objects, going)
		p.user = append(p.user, gone(going))
		freed = append(freed, patch(going.at(), map[string]any{"metadata": map[string]any{"finalizers": nil}}))
	}
	if len(freed) > 0 {
		p.user = append(append(p.user, verbs("wait")...), freed...)
	}
	return p
}

// hold is a finalizer of another program.
const hold = "example.com/threelaws-hold"

// holdFirst is a finalizer of another program that the sample has from the start.
const holdFirst = "example.com/threelaws-first"

// barred returns the cases of list. If why is not "", all of them are skipped for this reason.
func barred(why string, list []*place) (all []place) {
	for _, p := range list {
		if why != "" {
			p.why = why
		}
		all = append(all, *p)
	}
	return all
}

// lone returns the reason why cases with dependents and a rival owner are impossible, or "".
func (f *found) lone(rival manifest) string {
	switch {
	case len(f.dependents) == 0:
		return f.childless()
	case rival.Unstructured == nil:
		return "it reads or writes every kind that a rival could have"
	}
	return ""
}

// childless returns the reason for skipping a case that needs dependents.
func (f *found) childless() string {
	return f.known("it has no dependents: what it creates has no ControllerRef to its owner")
}

// makes returns an error if the server refuses an object in a world without the sample.
func (s *operator) makes(m manifest) error {
	r, err := s.run(m)
	if err == nil {
		r.Stop()
	}
	return err
}

func both(a, b scenarios.Func) scenarios.Func {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	return func(user host.Client) error {
		if err := a(user); err != nil {
			return err
		}
		return b(user)
	}
}

// expires reports whether a Job is deleted some time after it has finished.
func expires(m manifest) bool {
	_, is, _ := unstructured.NestedFieldNoCopy(m.Object, "spec", "ttlSecondsAfterFinished")
	return is && m.GetKind() == "Job"
}

// stays returns a check that an object exists and has a controller of the owner's kind.
func stays(m, owner manifest) scenarios.Func {
	return func(user host.Client) error {
		o, err := user.Get(context.Background(), m.GroupVersionKind(), m.GetNamespace(), m.GetName())
		if err != nil {
			return fmt.Errorf("%s, which %s owns, no longer exists", m.at(), owner.at())
		}
		if ref := metav1.GetControllerOf(o.(metav1.Object)); ref == nil || ref.Kind != owner.GetKind() {
			return fmt.Errorf("%s, which %s owned, is no longer its dependent", m.at(), owner.at())
		}
		return nil
	}
}

// miscounts compares two worlds without and with copies of the sample's dependents that another object owns. If numbers
// in the sample's status are larger in the second world, miscounts returns a check that they are not. Otherwise it
// returns nil.
func (f *found) miscounts(s *operator, rival manifest) scenarios.Func {
	if s.lasts > 0 || f.base.stored == nil {
		return nil // the numbers may depend on the time
	}
	alone := numbers(shown(f.base.stored, s.owner.GroupVersionKind()))
	if len(alone) == 0 {
		return nil
	}
	before := f.numbersBeside(s, rival, nil)
	after := f.numbersBeside(s, rival, f.each())
	maps.DeleteFunc(before, func(path string, n int64) bool {
		return after[path] <= n || n > alone[path] // if the second owner changes the number, it is not only about the sample
	})
	if len(before) == 0 {
		return nil
	}
	return func(user host.Client) error {
		o, err := user.Get(context.Background(), s.owner.GroupVersionKind(), s.owner.GetNamespace(), s.owner.GetName())
		if err != nil {
			return err
		}
		now := numbers(shown(o, s.owner.GroupVersionKind()))
		for _, path := range slices.Sorted(maps.Keys(before)) {
			if now[path] > before[path] {
				return fmt.Errorf("%s of %s is %d, and %d without %s: objects of another owner are counted", path, s.owner.at(),
					now[path], before[path], theirName)
			}
		}
		return nil
	}
}

// numbersBeside returns the numbers in the status of the sample, which is created after the rival and after copies of
// these dependents that the rival owns. The result is empty if the world does not settle.
func (f *found) numbersBeside(s *operator, rival manifest, dependents []manifest) map[string]int64 {
	defer s.limit()()
	r, err := s.run(rival)
	if err != nil {
		return nil
	}
	defer r.Stop()
	owner := r.stored(rival).(metav1.Object)
	var objects []manifest
	for _, d := range dependents {
		c := d.copied(f.named(theirName, d))
		c.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(owner, rival.GroupVersionKind())})
		objects = append(objects, c)
	}
	for _, m := range append(objects, f.both(s)...) {
		k := r.Server.Kind(m.GroupVersionKind())
		o, err := m.typed(k)
		if err != nil || r.does(&fakeapi.Request{Verb: fakeapi.Create, Kind: k, Namespace: m.GetNamespace(), Object: o}) != nil {
			return nil
		}
	}
	if !r.settled {
		return nil
	}
	return numbers(r.shown(s.owner))
}

// ofDependents matches the names of fields that count dependents by convention, such as readyReplicas and active. Other
// numbers may count other things, for example the objects of a pool that several owners use.
var ofDependents = regexp.MustCompile("(?i)replicas|ready|available|running|active|succeeded|failed|updated|current")

// numbers returns the whole numbers in an object's status that count dependents, by their paths, such as "status.ready".
// Lists are left out.
func numbers(m manifest) map[string]int64 {
	all := map[string]int64{}
	var add func(path string, v any)
	add = func(path string, v any) {
		switch v := v.(type) {
		case int64:
			if ofDependents.MatchString(path) {
				all[path] = v
			}
		case map[string]any:
			for name, value := range v { //detcheck:ordered each value has its own path
				add(path+"."+name, value)
			}
		}
	}
	add("status", m.Object["status"])
	return all
}

// taken returns the cases in which the user changes or deletes the sample's dependents, or takes their names. The sample
// loses the dependents in surplus when it wants fewer.
func (f *found) taken(s *operator, surplus []manifest) []place {
	lost := place{name: "dependent-deleted", objects: f.both(s), settled: true, faults: few}
	relabelled := place{name: "relabelled", objects: f.both(s), settled: true, faults: few}
	bared := place{name: "reference-taken-away", objects: f.both(s), settled: true, faults: few, uncounted: len(f.history) > 0}
	// With "stale", a controller may not know the object that has the name. It then rightly believes that it has
	// created a dependent whose creation is refused with AlreadyExists.
	name := place{name: "name-taken", faults: atWork}
	let := place{name: "released-and-gone", objects: f.both(s), settled: true, faults: few}
	all := []*place{&lost, &relabelled, &let, &bared, &name}
	rival := f.rival(s)
	if why := f.lone(rival); why != "" {
		return slices.Insert(barred(why, all), 1, f.dependentUnseen(s))
	}
	name.objects = append(name.objects, rival)
	relabelled.objects = append(relabelled.objects, rival)
	for _, d := range f.firsts() {
		if f.createsOnce(d) {
			continue // such a controller may also give up for good if the name of a dependent is taken
		}
		if f.gives(d) {
			theirs := d.copiedOf(before, d.GetName())
			name.objects = append(name.objects, owned(theirs, rival))
			name.user = append(name.user, gone(theirs))
		}
		lost.user = append(lost.user, gone(d))
		if len(d.GetLabels()) > 0 {
			relabel := relabels(d)
			relabelled.user = append(relabelled.user, alsoOwned(d, rival), relabel)
			// As long as a released dependent exists, its name is taken. A controller that neither adopts nor releases may
			// list its dependents by labels. But one that it still owns is no reason to wait for ever.
			if f.gives(d) || f.forgets && !f.adopts {
				if f.gives(d) && f.clings && d.same(f.dependents[0]) {
					relabelled.user = append(relabelled.user, casefile.Action{Verb: "settle"})
				}
				relabelled.user = append(relabelled.user, gone(d))
			}
			let.user = append(let.user, relabel, gone(d))
		}
		bared.user = append(bared.user, patch(d.at(), map[string]any{"metadata": map[string]any{
			"ownerReferences": nil}}))
		if !f.adopts || f.gives(d) { // as long as the object without a reference exists, its name is taken
			bared.user = append(bared.user, gone(d))
		}
	}
	relabelled.user = append(relabelled.user, f.relabelsSurplus(surplus)...)
	second := found{dependents: f.seconds}
	for _, d := range second.each() { // the controller may map events of these dependents to the wrong owner
		if !f.createsOnce(d) && !slices.Contains(f.asleep, d.GroupVersionKind()) {
			lost.user = append(lost.user, gone(d))
		}
	}
	tried := false
	for _, m := range f.misses { // the controller may delete an object of this name, whoever owns it
		if theirs := owned(m, rival); s.makes(m) == nil && !slices.ContainsFunc(name.objects, theirs.same) {
			name.objects, tried = append(name.objects, theirs), true
		}
	}
	name.objects = append(name.objects, f.both(s)...)
	name.user = append(verbs("wait"), name.user...) // a program starts slowly, and has to meet the taken names
	if taken := len(name.user) > 1 || tried; !taken && len(f.once) > 0 {
		name.why = "it creates its dependents once: it may give up if their names are taken"
	} else if !taken {
		name.why = f.known("it gives its dependents no names: none can be taken", naming)
	}
	if len(relabelled.user) == 0 {
		relabelled.why, let.why = "its dependents have no labels", "its dependents have no labels"
	}
	if len(lost.user) == 0 && len(f.once) > 0 {
		once := "it creates its dependents once: one that is taken away is not created again"
		lost.why, bared.why, relabelled.why, let.why = once, once, once, once
	}
	return slices.Insert(barred("", all), 1, f.dependentUnseen(s))
}

func relabels(d manifest) casefile.Action {
	return patch(d.at(), map[string]any{"metadata": map[string]any{"labels": others(d)}})
}

// relabelsSurplus returns actions that relabel dependents, and then make them surplus before the controller has restored
// their labels. There are none if the controller does not restore labels: it may find its dependents by them.
func (f *found) relabelsSurplus(surplus []manifest) (list []casefile.Action) {
	for _, d := range surplus {
		if f.restores && len(d.GetLabels()) > 0 && !f.createsOnce(d) {
			list = append(list, relabels(d))
		}
	}
	if len(list) > 0 {
		e, fewer := f.fewer()
		list = append(list, patch(f.of, e.patch(fewer)))
	}
	return list
}

// alsoOwned returns an action that adds an owner reference without controller: true. A release of d must keep it.
func alsoOwned(d, owner manifest) casefile.Action {
	ref := reference(owner)
	delete(ref, "controller")
	return jsonPatch(d.at(), map[string]any{"op": "add", "path": "/metadata/ownerReferences/-", "value": ref})
}

// standing returns the sample's dependents in the objects of both: beside a second owner, if there is one.
func (f *found) standing() []manifest {
	if len(f.pair) > 0 {
		return f.pair
	}
	return f.dependents
}

// firsts returns the first of the standing dependents of each kind, except kinds whose events enqueue nothing.
func (f *found) firsts() []manifest {
	beside := found{dependents: f.standing(), given: f.given}
	return slices.DeleteFunc(beside.each(), func(d manifest) bool {
		return slices.Contains(f.asleep, d.GroupVersionKind())
	})
}

func (f *found) gives(d manifest) bool { return slices.Contains(f.fixed, d.GetKind()) }
