package check

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/casefile"
	"github.com/threelaws/threelaws/sim/host"
)

// place describes the world of a case.
type place struct {
	name string // "recreated/orphan"
	why  string // the reason why the case is not run, or ""
	late bool   // the reason is that there was no time to find out a fact

	objects      []manifest // objects in addition to those around the sample
	settled      bool
	user         []casefile.Action
	faults       map[string]int
	settledCheck scenarios.Func
	graverThan   string // another case: if it has violated a law, this case still judges that law
	sameEnd      bool   // compare the settled world with that of a quiet run
	uncounted    bool   // the number of dependents is not judged
	unsurged     bool   // an owner never has more dependents than it wants, because it has not in quiet runs
	countsMarked bool   // the number of the sample's dependents is judged only while the sample has the annotation other
}

// few contains the faults of most cases, with the number of each in a run.
var few = map[string]int{"crash": 1, "stale": 1, "conflict": 1, "lost": 1}

// atWork contains the faults in few except "stale". A garbage collector that starts from an older list may not know
// some dependents. It may delete these later, although they should be orphaned.
var atWork = map[string]int{"crash": 1, "conflict": 1, "lost": 1}

func every() map[string]int {
	all := map[string]int{}
	for _, name := range host.FaultNames {
		all[name] = 1
	}
	return all
}

func (f *found) worlds(s *operator) (all []place) {
	s.fact = "which cases are possible"
	all = append(all,
		place{name: "one-owner", objects: []manifest{s.owner}, sameEnd: true, settledCheck: s.keepsSpec(f.drops)},
		place{name: "faults", objects: f.both(s), user: f.edited(f.anyEdit()), faults: every()},
		f.marked(s),
		place{name: "two-instances", objects: f.both(s), faults: map[string]int{"stale": 1, "conflict": 1},
			user: append(verbs("duplicate "+s.Controller.Name), f.edited(f.anyEdit())...)},
		f.arrival(s),
		f.edit(s),
		f.removed(s),
		f.scaled(s),
		f.editedAndDeleted(s))
	all = append(all, f.lookalikes(s)...)
	surplus, err := f.surplus(s)
	all = append(append(all, f.taken(s, surplus)...), f.replaced(s, surplus, err), f.confusing("other-namespace", &f.far), f.confusing("long-names", &f.long))
	all = append(all, f.ends(s)...)
	for i := range all {
		if why := f.lacks.needed(all[i].name, all[i].why != ""); why != "" {
			all[i].why, all[i].late = why, true
		}
		all[i].unsurged = f.neverSurges(s) && slices.Contains([]string{"one-owner", "new-owner"}, all[i].name)
		if f.protects && all[i].deletes(s.owner) && all[i].why == "" {
			all[i].why = "it keeps its deleted sample, " + f.of + ", and reports that: give a sample that it lets go"
		}
		if f.atOnce {
			all[i].why = "it deletes its own sample, " + f.of + ", at once: give a sample that it keeps"
		}
	}
	return all
}

// removesObjects reports whether the user deletes objects in this case.
func (p *place) removesObjects() bool {
	return slices.ContainsFunc(p.user, func(a casefile.Action) bool { return strings.HasPrefix(a.Verb, "delete ") })
}

// deletes reports whether the user deletes an object of this kind in this case.
func (p *place) deletes(m manifest) bool {
	kind, _, _ := strings.Cut(strings.TrimPrefix(m.at(), m.GetNamespace()+"/"), "/")
	return slices.ContainsFunc(p.user, func(a casefile.Action) bool {
		words := strings.Fields(a.Verb)
		return len(words) > 1 && words[0] == "delete" && strings.Contains("/"+words[1], "/"+kind+"/")
	})
}

// marked is the case two-owners. If the server accepts a label and an annotation on the sample, the user adds them, and
// the sample must still have them when the world has settled.
func (f *found) marked(s *operator) place {
	if f.second.Unstructured == nil && f.unsettled == "" {
		return place{name: "two-owners", why: f.known("no second owner can exist beside the sample", "a second owner", besiding)}
	}
	if f.unmarked {
		return place{name: "two-owners", objects: f.both(s), faults: few, user: f.edited(f.scale)}
	}
	return place{name: "two-owners", objects: f.both(s), faults: few,
		user: append(f.edited(f.scale), verbs("label "+f.of+" "+other+"=yes", "annotate "+f.of+" "+other+"=yes")...),
		settledCheck: func(user host.Client) error {
			o, err := user.Get(context.Background(), s.owner.GroupVersionKind(), s.owner.GetNamespace(), s.owner.GetName())
			if err != nil {
				return nil // the label and the annotation were deleted with their owner
			}
			m := o.(metav1.Object)
			for _, has := range []struct {
				what string
				all  map[string]string
			}{{"label", m.GetLabels()}, {"annotation", m.GetAnnotations()}} {
				if has.all[other] == "" {
					return fmt.Errorf("the %s %s that the user gave %s no longer exists", has.what, other, s.owner.at())
				}
			}
			return nil
		}}
}

// refusesMarks reports whether the server refuses the label and the annotation of the case two-owners.
func (r *quiet) refusesMarks(m manifest) (bool, error) {
	marks := map[string]any{other: "yes"}
	req, err := r.patch(m, map[string]any{"metadata": map[string]any{"labels": marks, "annotations": marks}})
	if err != nil {
		return false, err
	}
	_, err = r.Request(req)
	return err != nil, nil
}

// arrival is a case: the sample is created while the controllers run.
func (f *found) arrival(s *operator) place {
	p := place{name: "new-owner", settled: true, faults: atWork, sameEnd: true,
		user: []casefile.Action{casefile.Action{Manifests: s.owner.text()}}}
	if f.second.Unstructured != nil {
		p.objects = []manifest{f.second}
	}
	return p
}

// both returns the sample and, if there is one, the second owner.
func (f *found) both(s *operator) []manifest {
	if f.second.Unstructured == nil {
		return []manifest{s.owner}
	}
	return []manifest{s.owner, f.second}
}

// anyEdit returns an edit to which the controller reacts, or nil.
func (f *found) anyEdit() *edit {
	for _, e := range f.follows() {
		return e
	}
	return nil
}

// edited returns actions that edit the sample and undo the edit.
func (f *found) edited(e *edit) []casefile.Action {
	if e == nil {
		return nil
	}
	return []casefile.Action{patch(f.of, e.patch(e.to)), patch(f.of, e.patch(e.from))}
}

// edit returns a case in which users edit the sample. If one edit keeps the controller from settling (f.fights), the
// case makes only this edit. Otherwise it makes the edits to which the controller reacts. It ends after an edit in
// f.history, if there is one: only for the edited owner is no number of dependents expected.
func (f *found) edit(s *operator) place {
	if f.fights != nil {
		return place{name: "edit", objects: []manifest{s.owner}, settled: true,
			user: []casefile.Action{patch(f.of, f.fights.patch(f.fights.to))}}
	}
	list, _ := f.keepers()
	if f.change != nil {
		list = append(list, f.change)
	}
	list = append(list, f.more...)
	if len(list) == 0 {
		why := "no field of its sample's spec, edited, made it do anything"
		if len(f.waits) > 0 {
			why = "no field of its sample's spec, edited, made it do more than wait"
		}
		return place{name: "edit", why: f.untold(why, editing)}
	}
	var shows *edit // the last edit shows the mistake
	if f.partly != nil {
		shows = f.partly.edit
	} else if f.renamed != nil {
		shows = f.renamed.edit
	}
	if shows != nil {
		list = append([]*edit{shows}, slices.DeleteFunc(list, func(e *edit) bool { return e == shows })...)
	}
	p := f.follow(s, "edit", list[0], "")
	if p.settledCheck = f.caughtUp(s); f.renamed != nil {
		p.settledCheck = both(p.settledCheck, f.takenOut(s, f.renamed.edit))
	}
	for _, e := range list[1:] {
		p.user = append(f.edited(e), p.user...)
	}
	return p
}

// follow is a case: the sample is edited while the controller works. The edit is undone, and then repeated. For
// f.scale, the last edit instead reduces the wanted number of dependents by one, if possible. The end of a controller that
// keeps a history depends on which edits it has seen.
func (f *found) follow(s *operator, name string, e *edit, why string) place {
	if e == nil {
		return place{name: name, why: why}
	}
	p := place{name: name, objects: f.both(s), faults: few, user: f.edited(e), sameEnd: len(f.history) == 0}
	last := e.to
	if n, ok := f.less(); ok && e == f.scale {
		last = n
	}
	p.user = append(p.user, patch(f.of, e.patch(last)))
	return p
}

// scaled is the case scale. If no field changes the number of dependents, but a dependent is an autoscaler of another one,
// the user sets the replicas of the target as the autoscaler does. They must stay.
func (f *found) scaled(s *operator) place {
	target, n := autoscaled(f.standing())
	if f.scale != nil || target.Unstructured == nil {
		return f.follow(s, "scale", f.scale, f.untold("no number in its sample's spec changed how many dependents there are", editing, scaling))
	}
	return place{name: "scale", objects: f.both(s), settled: true, faults: atWork,
		user: []casefile.Action{patch(target.at(), map[string]any{"spec": map[string]any{"replicas": n}})},
		settledCheck: func(user host.Client) error {
			o, err := user.Get(context.Background(), target.GroupVersionKind(), target.GetNamespace(), target.GetName())
			if err != nil {
				return nil // it was deleted
			}
			if now, _, _ := unstructured.NestedInt64(object(o), "spec", "replicas"); now != n {
				return fmt.Errorf("%s has %d replicas: the controller has undone the %d of its HorizontalPodAutoscaler", target.at(), now, n)
			}
			return nil
		}}
}

// autoscaled returns a dependent that is the target of a HorizontalPodAutoscaler, and another number of replicas between
// the limits. If there is none, the manifest is empty.
func autoscaled(dependents []manifest) (target manifest, replicas int64) {
	for _, hpa := range dependents {
		spec, _ := hpa.Object["spec"].(map[string]any)
		to, _ := spec["scaleTargetRef"].(map[string]any)
		least, _ := spec["minReplicas"].(int64)
		most, _ := spec["maxReplicas"].(int64)
		for _, d := range dependents {
			n, is, _ := unstructured.NestedInt64(d.Object, "spec", "replicas")
			switch {
			case !is || hpa.GetKind() != "HorizontalPodAutoscaler" || to["kind"] != d.GetKind() || to["name"] != d.GetName() || n < least:
			case n < most:
				return d, n + 1
			case n == most && n > least:
				return d, n - 1
			}
		}
	}
	return manifest{}, 0
}

// verbs returns user actions from lines in the form of scenario files.
func verbs(lines ...string) (list []casefile.Action) {
	for _, l := range lines {
		list = append(list, casefile.Action{Verb: l})
	}
	return list
}

func patch(at string, fields map[string]any) casefile.Action { return patches(at, "merge", fields) }

func jsonPatch(at string, operations ...any) casefile.Action { return patches(at, "json", operations) }

func patches(at, how string, what any) casefile.Action {
	data, err := json.Marshal(what)
	if err != nil {
		panic("check: " + err.Error())
	}
	return casefile.Action{Verb: fmt.Sprintf("patch %s type=%s '%s'", at, how, strings.ReplaceAll(string(data), "'", `\u0027`))}
}

func gone(m manifest) casefile.Action {
	line := "delete " + m.at()
	if m.GetKind() == "Pod" {
		line += " --grace-period=0"
	}
	return casefile.Action{Verb: line}
}

// owned returns a copy of m with a ControllerRef to another object, which must exist when the copy is created.
func owned(m, by manifest) manifest {
	c := manifest{m.DeepCopy()}
	c.Object["metadata"].(map[string]any)["ownerReferences"] = []any{reference(by)}
	return c
}

// reference returns a ControllerRef to an object, which must exist when the reference is written.
func reference(to manifest) map[string]any {
	return map[string]any{"apiVersion": to.GetAPIVersion(), "kind": to.GetKind(), "name": to.GetName(),
		"uid": "$(uid " + to.at() + ")", "controller": true}
}

// rival returns an owner of a kind that the controller neither reads nor writes, or an empty manifest.
func (f *found) rival(s *operator) manifest {
	for _, text := range []string{"{apiVersion: v1, kind: ConfigMap}", "{apiVersion: v1, kind: Secret}",
		"{apiVersion: v1, kind: ServiceAccount}",
		"{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, spec: {podSelector: {}}}",
		"{apiVersion: v1, kind: LimitRange, spec: {limits: []}}"} {
		m, _ := read([]byte(text))
		kind := m.GetKind()
		busy := kind == s.Controller.For.Kind
		for _, k := range f.watches {
			busy = busy || k == kind
		}
		for _, c := range f.creates {
			busy = busy || c.kind.Kind == kind
		}
		if !busy {
			ns := s.owner.GetNamespace()
			if len(f.dependents) > 0 {
				ns = f.dependents[0].GetNamespace()
			}
			m.SetName("threelaws-rival")
			m.SetNamespace(ns)
			return m
		}
	}
	return manifest{}
}

// whole converts a place to a casefile.Case.
func (p *place) whole(s *operator, c host.Controller) casefile.Case {
	if p.unsurged && s.Controller.Contract.Replicas == nil {
		c.Contract.MaxSurge = nil
	}
	if p.uncounted {
		c.Contract.Replicas, c.Contract.MaxSurge, c.Contract.MaxUnavailable = nil, nil, nil
	} else if wants := c.Contract.Replicas; wants != nil && p.countsMarked {
		c.Contract.Replicas = func(owner runtime.Object) int {
			m := owner.(metav1.Object)
			if m.GetName() == s.owner.GetName() && m.GetNamespace() == s.owner.GetNamespace() && m.GetAnnotations()[other] == "" {
				return -1
			}
			return wants(owner)
		}
	}
	needed, others := s.needed(c.Hosted())
	objects := append(others, p.objects...)
	w := casefile.Case{Controllers: []host.Controller{c}, Beside: s.Others, With: s.With, SettleFirst: p.settled,
		For: s.lasts, User: s.timed(p.user), Settled: both(p.settledCheck, s.Settled), Faults: p.faults, Schedules: s.Schedules,
		Server: s.Server, SameEnd: p.sameEnd, Invariants: s.Invariants}
	if s.Relists && c.Hosted() && len(p.faults) > 0 && p.removesObjects() {
		w.Faults = maps.Clone(p.faults) // a program learns from the next list that an object is gone
		w.Faults["relist"] = 1
	}
	if c.Hosted() { // a program may watch any kind, so minimized failures keep all CRDs
		w.CRDs, w.Installed = s.files, documents(s.installs, needed)
	} else {
		w.Installed = needed
		objects = append(append(append([]manifest(nil), s.definitions...), s.installed...), objects...)
	}
	w.World = world(objects...)
	return w
}

// needed divides the objects in the sample's file. text contains those that stay when a failure is minimized: without the
// Secret that a sample names, a controller may fail for another reason. The CRDs of the others may be created later.
func (s *operator) needed(all bool) (text string, others []manifest) {
	var needed []manifest
	for _, m := range s.around {
		if all || !s.custom(m.GroupVersionKind()) {
			needed = append(needed, m)
		} else {
			others = append(others, m)
		}
	}
	return world(needed...), others
}

// timed adds the duration of the world to the settle steps.
func (s *operator) timed(user []casefile.Action) []casefile.Action {
	if s.lasts == 0 {
		return user
	}
	user = slices.Clone(user)
	for i := range user {
		if user[i].Verb == "settle" {
			user[i].Verb += " for=" + s.lasts.String() + " rest"
		}
	}
	return user
}

func propagation(p metav1.DeletionPropagation) string { return strings.ToLower(string(p)) }

// less returns a value for the field of f.scale that is one less than the sample's value. ok is false if f.scale does
// not edit a number, or if no dependent would remain.
func (f *found) less() (value any, ok bool) {
	if f.scale == nil {
		return nil, false
	}
	was, number := f.scale.was.(int64)
	if !number || was < 2 {
		return nil, false // without dependents a case can show nothing
	}
	return f.scale.number(was - 1), true
}
