package check

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// mostEdits is the maximal number of edits that are tried on a sample, in addition to Operator.Edits.
const mostEdits = 16

// A hosted program is slow, so its edits end early, after a reaction to mostFollowed edits. One of these must change
// the number of dependents (found.scale), and another one must not (found.change).
const mostFollowed = 3

// edits finds the fields of the sample to which the controller reacts, and the number of dependents after each edit.
func (f *found) edits(s *operator) error {
	stored, idle := shown(f.base.stored, s.owner.GroupVersionKind()), ""
	if s.lasts > 0 { // periodic writes are no reaction to an edit
		first, err := s.run(s.owner)
		if err != nil {
			return err
		}
		stored = first.shown(s.owner)
		first.began = first.World.History.Len()
		first.settle()
		idle = first.deeds()
		first.Stop()
	}
	given, err := s.given(stored)
	if err != nil {
		return err
	}
	fields := append(given, fieldsOf(stored.Object, s.schema())...)
	for _, e := range fieldsOf(s.owner.Object, s.schema()) { // an update by the controller may leave out a false or a zero
		if !slices.ContainsFunc(fields, func(o *edit) bool { return o.name == e.name }) {
			fields = append(fields, e)
		}
	}
	tried := 0
	for i, e := range fields {
		if s.over() != nil || tried == mostEdits+len(given) || s.Controller.Hosted() && f.scale != nil && f.change != nil && len(f.follows()) >= mostFollowed {
			f.untried = len(fields) - i
			break
		}
		if i >= len(given) && s.refuses(e) {
			continue
		}
		tried++
		if answered, err := f.tryEdit(s, e, idle); err != nil && err != errLate {
			return err
		} else if !answered {
			continue
		}
		switch _, number := e.was.(int64); {
		case f.scale == nil && (number || i < len(given)) && e.has != e.had:
			f.scale = e
		case f.change == nil && e.has == e.had:
			f.change = e
		default:
			f.more = append(f.more, e)
		}
	}
	if err := f.removals(s); err != nil && err != errLate {
		return err
	}
	f.oversees(s)
	return f.want(s)
}

// (*found).two changes a field of the sample from 1 to 2, if the sample then has more dependents: a case cannot
// scale down a single dependent. It returns the run with the edited sample, or nil if no field was changed.
func (f *found) two(s *operator, one *quiet) (*quiet, error) {
	if !one.settled || s.lasts > 0 || len(s.Edits) > 0 {
		return nil, nil
	}
	for _, e := range fieldsOf(one.shown(s.owner).Object, s.schema()) {
		if n, is := e.was.(int64); !is || n != 1 || !count.MatchString(e.name) || s.refuses(e) {
			continue
		}
		owner := s.edited(e, e.to)
		r, err := s.run(owner)
		if err != nil {
			return nil, err
		}
		if r.settled && len(r.controlled(owner, f.owns)) > len(one.controlled(s.owner, f.owns)) && s.admits(owner) {
			f.raised, s.owner = e, owner
			return r, nil
		}
		r.Stop()
	}
	return nil, nil
}

// follows lists the edits to which the controller reacts.
func (f *found) follows() (list []*edit) {
	for _, e := range append([]*edit{f.scale, f.change}, f.more...) {
		if e != nil {
			list = append(list, e)
		}
	}
	return list
}

func (s *operator) edited(e *edit, value any) manifest {
	owner := manifest{s.owner.DeepCopy()}
	e.set(owner.Object, value)
	return owner
}

// schema returns the schema of the sample's kind in its CRD, or nil.
func (s *operator) schema() *apiextensionsv1.JSONSchemaProps {
	if _, version := s.kind.Definition(); version != nil && version.Schema != nil {
		return version.Schema.OpenAPIV3Schema
	}
	return nil
}

// refuses reports whether the server refuses to create the edited sample.
func (s *operator) refuses(e *edit) bool {
	_, err := s.creates(s.edited(e, e.to))
	return err != nil
}

// creates returns the object that the server stores for owner, in a world without the controller.
func (s *operator) creates(owner manifest) (manifest, error) {
	server := s.server.Fork()
	for _, m := range append(slices.Clone(s.around), owner) {
		if err := create(server, m); err != nil {
			return manifest{}, err
		}
	}
	o := server.Lookup(server.Kind(owner.GroupVersionKind()), owner.GetNamespace(), owner.GetName())
	return shown(o, owner.GroupVersionKind()), nil
}

// tryEdit edits the settled sample, and later deletes it. It reports whether the controller reacts to the edit.
func (f *found) tryEdit(s *operator, e *edit, idle string) (answered bool, err error) {
	r, err := s.run(s.owner)
	if err != nil {
		return false, err
	}
	defer r.Stop()
	if answered, err = f.answers(s, r, e, idle); err == nil {
		err = f.stranded(s, r, e)
	}
	return answered, err
}

// answers reports whether the controller reacts to an edit. It counts the dependents before the edit, after the edit, and
// after undoing it.
func (f *found) answers(s *operator, r *quiet, e *edit, idle string) (answered bool, err error) {
	e.had = f.active(s, r.controlled(s.owner, f.owns))
	if err := r.merge(s.owner, e.patch(e.to)); err != nil {
		return false, nil // the server refuses the edit
	}
	if s.finish(r) {
		return false, errMore
	}
	e.has = e.had
	for _, rec := range r.writes() { // it may have more finalizers than in a run without edits
		if after, is := rec.After.(metav1.Object); is {
			f.holds(rec, after)
		}
	}
	f.surge(r)
	switch {
	case r.settled:
	case r.writesOn():
		if f.fights == nil {
			f.fights = e
		}
	case r.ticking.found == nil:
		f.waits, e.refused = append(f.waits, e), r.refused()
	default:
		f.doubt(fmt.Sprintf("%s: %s after %s", editing, notSettled, e))
	}
	if !r.settled {
		if _, number := e.was.(int64); number {
			f.doubt(fmt.Sprintf("%s: %s after %s", scaling, notSettled, e))
		}
		return false, nil
	}
	if s.lasts == 0 { // in a timed world, the number depends on the time
		e.has = f.active(s, r.controlled(s.owner, f.owns))
	}
	if r.deeds() == idle && len(e.path) > 0 { // an edit of Operator.Edits is used in any case
		return false, nil
	}
	if waits, err := f.waitsSo(s, e); err != nil || waits {
		f.waits = append(f.waits, e)
		return false, err
	}
	e.back = e.had
	if s.lasts > 0 {
		return true, nil
	}
	e.after = f.end(r, s.owner)
	switch err := r.merge(s.owner, e.patch(e.from)); {
	case s.over() != nil:
		return false, s.over()
	case err != nil:
		return e.path == nil, nil // the edit cannot be undone: it is used only if it is from Operator.Edits
	case r.settled:
		f.surge(r)
		e.back = f.active(s, r.controlled(s.owner, f.owns))
		e.tells = !sameConditions(r.shown(s.owner).Object["status"], f.base.status())
	}
	return true, nil
}

// refused describes the controller's last write or refused request since the last user action, if the server has refused it
// as invalid.
func (r *quiet) refused() (text string) {
	for i := r.began; i < r.World.History.Len(); i++ {
		rec := r.World.History.At(i)
		if rec.Process == r.process && (rec.Op == sim.Commit && !told(rec.Object) || rec.Op == sim.Refusal) {
			if text = ""; rec.Op == sim.Refusal && rec.Code == http.StatusUnprocessableEntity {
				text = fmt.Sprintf("%s %s is refused: %s", rec.Verb, rec.Object, render.RefusalOf(rec))
			}
		}
	}
	return text
}

// waitsSo creates the sample with an edit, and sets e.made. It reports whether the controller retries without writing.
func (f *found) waitsSo(s *operator, e *edit) (bool, error) {
	if s.lasts > 0 {
		return false, nil
	}
	r, err := s.run(s.edited(e, e.to))
	if err != nil {
		return false, err
	}
	defer r.Stop()
	e.made = f.end(r, s.edited(e, e.to))
	return !r.settled && !r.writesOn() && r.ticking.found == nil, nil
}

// deeds lists the controller's writes since the last user action, except writes to objects of the sample's kind, Events
// and Leases: a controller may write these in any reconcile, or at any time.
func (r *quiet) deeds() (text string) {
	for _, rec := range r.writes() {
		if rec.Object.Kind != r.s.owner.GetKind() && !told(rec.Object) {
			text += rec.Verb + " " + rec.Object.Kind + "/" + rec.Subresource + "\n"
		}
	}
	return text
}

func (s *operator) given(stored manifest) (list []*edit, err error) {
	old, err := json.Marshal(stored.Object)
	if err != nil {
		return nil, err
	}
	for i, text := range s.Edits {
		wrong := func(err error) error { return mistake(fmt.Sprintf("Edits[%d]", i), "%v", err) }
		patch, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			return nil, wrong(err)
		}
		edited, err := jsonpatch.MergePatch(old, patch)
		if err != nil {
			return nil, wrong(fmt.Errorf("%s is not a merge patch: %w", text, err))
		}
		back, err := jsonpatch.CreateMergePatch(edited, old)
		if err != nil {
			return nil, wrong(err)
		}
		var to, from map[string]any
		if err := errors.Join(json.Unmarshal(patch, &to), json.Unmarshal(back, &from)); err != nil {
			return nil, wrong(err)
		}
		if len(from) == 0 {
			return nil, wrong(fmt.Errorf("%s changes nothing in the sample", text))
		}
		list = append(list, &edit{from: from, to: to, name: "Edits[" + strconv.Itoa(i) + "]"})
	}
	return list, nil
}
