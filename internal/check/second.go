package check

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// beside adds a second owner: the sample under another name. If the owners then have too few dependents, beside also
// renames the dependents in the second owner's spec. It keeps this change only if the change helps.
func (f *found) beside(s *operator) error {
	same := s.owner.renamed(s.owner.GetName() + "-second")
	known := f.unknown
	if f.besides(s, same) || len(f.dependents) == 0 {
		return nil
	}
	names := map[string]bool{}
	for _, d := range f.dependents {
		names[d.GetName()] = true
	}
	apart := manifest{same.DeepCopy()}
	if spec, ok := apart.Object["spec"].(map[string]any); ok {
		apart.Object["spec"] = renames(spec, names, "-second")
	}
	if apart.text() == same.text() {
		return nil
	}
	was := *f
	if f.unknown = known; !f.besides(s, apart) {
		f.second, f.pair, f.seconds, f.contend, f.bereft, f.unknown = was.second, was.pair, was.seconds, was.contend, was.bereft, was.unknown
	}
	return nil
}

// besides runs a world with the sample and a second owner. It reports whether each owner has at least as many
// dependents as the sample alone, and the owners do not wait for each other.
func (f *found) besides(s *operator, second manifest) bool {
	f.second, f.pair, f.seconds, f.contend, f.bereft = manifest{}, nil, nil, false, nil
	r, err := s.run(s.owner, second)
	if err != nil {
		f.doubt("a second owner: " + err.Error())
		return false
	}
	defer r.Stop()
	f.second, f.pair, f.seconds = second, r.controlled(s.owner, f.owns), r.controlled(second, f.owns)
	alone := f.active(s, f.dependents)
	f.contend = f.active(s, f.pair) < alone || f.active(s, f.seconds) < alone
	waits := !r.settled && !r.writesOn() && !r.overwrites()
	if waits {
		f.doubt("a second owner: it and the sample wait for each other's dependents")
		f.second, f.pair, f.seconds = manifest{}, nil, nil
	} else if f.contend {
		f.bereft = f.lost(r)
	}
	return !f.contend && !waits
}

// overwrites reports whether owners change the same object at equal intervals, in a world that settles without one of them.
func (r *quiet) overwrites() bool { return r.ticking.found != nil && r.ticking.found.name != "" }

// lost deletes the sample beside the second owner. It returns the dependents of the sample that the second owner then
// lacks, although it has them without another owner. It returns none if the controller reports a difference.
func (f *found) lost(r *quiet) (list []manifest) {
	if !r.settled || r.remove(r.s.owner, metav1.DeletePropagationBackground) != nil || !r.settled {
		return nil
	}
	r.began = 0
	if r.complains() || !sameStatus(r.shown(f.second).Object["status"], f.base.status()) {
		return nil
	}
	has := append(r.controlled(f.second, f.owns), f.seconds...)
	for _, d := range f.each() {
		if slices.ContainsFunc(f.pair, d.same) && r.stored(d) == nil && !slices.ContainsFunc(has, func(o manifest) bool {
			return o.GroupVersionKind() == d.GroupVersionKind()
		}) {
			list = append(list, d)
		}
	}
	return list
}

// handedOver returns a check that the second owner does not lose the dependents in f.bereft with the sample.
func (f *found) handedOver(s *operator) scenarios.Func {
	return func(user host.Client) error {
		has := func(m manifest) bool {
			_, err := user.Get(context.Background(), m.GroupVersionKind(), m.GetNamespace(), m.GetName())
			return err == nil
		}
		for _, d := range f.bereft {
			if !has(s.owner) && has(f.second) && !has(d) {
				return fmt.Errorf("%s was deleted with %s, and %s has none now: without another owner, it has one",
					d.at(), f.of, f.second.at())
			}
		}
		return nil
	}
}

// differs finds fields in which owners must differ, and adds an invariant that requires different values.
func (f *found) differs(s *operator) (err error) {
	if f.second.Unstructured == nil || s.lasts > 0 ||
		slices.ContainsFunc(s.Invariants, func(v *law.Invariant) bool { return v.ID == differentValues }) {
		return nil
	}
	if f.distinct, err = s.distinctValues(f.second, f.owns); len(f.distinct) > 0 {
		s.Invariants = append(slices.Clone(s.Invariants), differ(s.owner, f.second, f.owns, f.distinct))
	}
	return err
}

// shares finds objects that both owners use. Such an object cannot have a ControllerRef, so no law requires one. Either
// it refers to both owners, or it refers to none and the second owner gets no other one. If the spec contains the name of
// such an object, the spec of the second owner contains another name. So the object is shared only if its name does not
// follow the spec: a webhook may write the name of one object into the spec of each owner.
func (f *found) shares(s *operator) error {
	if len(f.plain)+len(f.bare) == 0 {
		return nil
	}
	second, names := s.owner.renamed(s.owner.GetName()+"-second"), map[string]bool{}
	for _, o := range f.bare {
		names[o.Name] = o.Namespace == s.owner.GetNamespace()
	}
	renames(second.Object["spec"], names, "-second")
	r, err := s.run(s.owner, second)
	if err != nil {
		return s.over() // the server refuses a second owner
	}
	defer r.Stop()
	first := len(r.controlled(s.owner, f.owns))
	alike := r.settled || first > 0 && first == len(r.controlled(second, f.owns))
	for i := range f.creates {
		c := &f.creates[i]
		all, how := ofKind(f.plain, c.kind), sharing
		if c.how == none {
			all, how = ofKind(f.bare, c.kind), shared
		}
		made := slices.DeleteFunc(r.uncontrolled(c.kind), s.itself)
		if c.how != refers && c.how != none || !alike || len(all) == 0 || len(made) > len(all) {
			continue
		}
		c.how, f.shared = how, append(f.shared, all...)
		if how == sharing && !slices.Contains(f.creates, creation{c.kind, controls}) && !slices.Contains(f.creates, creation{c.kind, none}) {
			f.owns = slices.DeleteFunc(f.owns, func(gvk schema.GroupVersionKind) bool { return gvk == c.kind })
		}
	}
	return nil
}

func ofKind(all []sim.Ref, kind schema.GroupVersionKind) (list []sim.Ref) {
	for _, o := range all {
		if o.Kind == kind.Kind {
			list = appendOnce(list, o)
		}
	}
	return list
}

// uncontrolled lists the objects of a kind that the controller created without a ControllerRef.
func (r *quiet) uncontrolled(kind schema.GroupVersionKind) (list []sim.Ref) {
	for _, rec := range r.writes() {
		if m, is := rec.After.(metav1.Object); is && rec.Before == nil && r.kindOf(rec) == kind && metav1.GetControllerOf(m) == nil {
			list = append(list, rec.Object)
		}
	}
	return list
}

// distinct is a field whose value must differ between owners, for example a port or an address range.
type distinct struct {
	kind schema.GroupVersionKind // the kind of the owner or of a dependent
	path string                  // "status.cidr"
}

func (d distinct) String() string { return d.kind.Kind + " " + d.path }

// manyOwners contains name suffixes for owners with equal specs. With five owners, values from a small pool repeat.
var manyOwners = []string{"", "-second", "-third", "-fourth", "-fifth"}

// distinctValues returns the fields whose values differ between all owners in three worlds. The owners are created at
// once, at once in reverse order, and one after the other. The name of second must end in "-second".
func (s *operator) distinctValues(second manifest, owns []schema.GroupVersionKind) ([]distinct, error) {
	owners := []manifest{s.owner}
	for _, suffix := range manyOwners[1:] {
		m, err := read([]byte(strings.ReplaceAll(second.text(), "-second", suffix)))
		if err != nil {
			return nil, err
		}
		owners = append(owners, m)
	}
	reversed := slices.Clone(owners)
	slices.Reverse(reversed)
	var all []distinct
	for i, begin := range [][]manifest{owners, reversed, owners[:1]} {
		r, err := s.run(begin...)
		if err != nil {
			return nil, s.over() // the server does not accept so many owners
		}
		for _, m := range owners[len(begin):] {
			if err = r.creates(m); err != nil {
				break
			}
		}
		found := r.differing(owners, owns)
		if i > 0 {
			found = slices.DeleteFunc(found, func(d distinct) bool { return !slices.Contains(all, d) })
		}
		settled := r.settled && err == nil
		if r.Stop(); !settled {
			return nil, s.over()
		}
		if all = found; len(all) == 0 {
			return nil, nil
		}
	}
	return all, nil
}

func (r *quiet) creates(m manifest) error {
	k := r.Server.Kind(m.GroupVersionKind())
	obj, err := m.typed(k)
	if err != nil {
		return err
	}
	return r.does(&fakeapi.Request{Verb: fakeapi.Create, Kind: k, Namespace: m.GetNamespace(), Object: obj})
}

// differing returns the fields whose values differ between all owners. It leaves out fields that the user has set, values
// that differ only in the owner's name, and lists of objects: they say what the controller has seen.
func (r *quiet) differing(owners []manifest, owns []schema.GroupVersionKind) (all []distinct) {
	var values []map[distinct]string
	for _, m := range owners {
		stored := r.shown(m)
		v := chosenValues(stored, r.controlled(m, owns))
		for given := range chosenValues(m, nil) {
			delete(v, given)
		}
		values = append(values, v)
	}
	named := map[string]bool{}
	for n := range r.World.History.Len() {
		named[r.World.History.At(n).Object.Name] = true
	}
	for d := range values[0] {
		seen, nameless := map[string]bool{}, map[string]bool{}
		for i, v := range values {
			if text, has := v[d]; has && !(named[text] && strings.Contains(d.path, "[")) {
				seen[text] = true
				nameless[strings.ReplaceAll(text, owners[i].GetName(), "")] = true
			}
		}
		if len(seen) == len(owners) && len(nameless) == len(owners) {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b distinct) int { return strings.Compare(a.String(), b.String()) })
	return all
}

// chosenValues returns the fields of an owner and its dependents that contain numbers, or texts with digits. It leaves
// out values that the server has allocated, and the status of dependents, which others write. It uses a dependent only if
// there is no other of its kind.
func chosenValues(owner manifest, dependents []manifest) map[distinct]string {
	all := map[distinct]string{}
	for i, m := range append([]manifest{owner}, dependents...) {
		gvk := m.GroupVersionKind()
		if i > 0 && slices.ContainsFunc(dependents, func(o manifest) bool {
			return o.GroupVersionKind() == gvk && o.GetName() != m.GetName()
		}) {
			continue
		}
		m = manifest{m.DeepCopy()}
		m.ungenerate()
		for field, v := range m.Object {
			if field != "metadata" && (i == 0 || field != "status") {
				eachChosen(v, field, func(path, text string) { all[distinct{gvk, path}] = text })
			}
		}
	}
	return all
}

// notChosen contains the names of fields whose values the controller does not choose.
var notChosen = []string{"conditions", "observedGeneration", "resourceVersion", "uid", "apiVersion", "kind"}

func eachChosen(v any, path string, do func(path, text string)) {
	if slices.Contains(notChosen, path[strings.LastIndexByte(path, '.')+1:]) {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for field, x := range v {
			eachChosen(x, path+"."+field, do)
		}
	case []any:
		for i, x := range v {
			eachChosen(x, fmt.Sprintf("%s[%d]", path, i), do)
		}
	case string:
		if sim.Timeless(v) == v && digits.MatchString(v) {
			do(path, v)
		}
	case int64, float64:
		if text := fmt.Sprint(v); len(text) < len("1500000000") { // a longer number may be a time
			do(path, text)
		}
	}
}

var digits = regexp.MustCompile(`[0-9]`)

func differ(first, second manifest, owns []schema.GroupVersionKind, fields []distinct) *law.Invariant {
	var names []string
	for _, d := range fields {
		names = append(names, d.String())
	}
	return &law.Invariant{ID: differentValues, When: law.WhenSettled,
		Sentence: "No two owners have the same " + strings.Join(names, " or ") + ".",
		Check: func(f *law.Facts) string {
			a, b := ownerValues(f, first, owns), ownerValues(f, second, owns)
			for _, d := range fields {
				if x, is := a[d]; is && x == b[d] {
					return fmt.Sprintf("%s and %s have the same %s: %s", first.at(), second.at(), d, x)
				}
			}
			return ""
		}}
}

// ownerValues returns the result of chosenValues for an owner and its dependents. It returns nil if the owner does not exist
// or is terminating: its values may be free although another program keeps the owner.
func ownerValues(f *law.Facts, owner manifest, owns []schema.GroupVersionKind) map[distinct]string {
	o := f.Get(owner.GetKind(), owner.GetNamespace(), owner.GetName())
	if o == nil || o.(metav1.Object).GetDeletionTimestamp() != nil {
		return nil
	}
	var dependents []manifest
	for _, gvk := range owns {
		for _, d := range f.All(gvk.Kind) {
			if metav1.IsControlledBy(d.(metav1.Object), o.(metav1.Object)) {
				dependents = append(dependents, shown(d, gvk))
			}
		}
	}
	return chosenValues(shown(o, owner.GroupVersionKind()), dependents)
}
