package check

import (
	"slices"

	"github.com/threelaws/threelaws/scenarios/casefile"
)

// Of what a world at rest has shown it no controller can say that it was told too late: in these
// worlds one is the judge of a whole program, too, of which nobody knows when it looked.

// going is the world in which the sample is being deleted, and everybody has seen it, when there
// is something that it would adopt, and more that it would do.
func (f *found) going(s *subject) place {
	held := manifest{s.owner.DeepCopy()}
	held.SetFinalizers(append(held.GetFinalizers(), hold))
	p := place{name: "terminating", objects: []manifest{held}, settled: true, faults: few,
		user: verbs("delete "+f.of+" --cascade=background", "settle")}
	for _, d := range f.each() {
		if o := d.copied(stray); s.makes(o) == nil {
			p.user = append(p.user, casefile.Apply(o.text()))
		}
	}
	for _, e := range []*edit{f.scale, f.change} {
		if e != nil {
			p.user = append(p.user, patch(f.of, e.patch(e.to)))
		}
	}
	if len(p.user) == 2 {
		p.why = "nothing is known that it would do for its sample then"
	}
	return p
}

// before is the uid of one that had the sample's name, and is gone.
const before = "0a0b0c0d-0000-4000-8000-000000000000"

// restored is the world in which dependents of an earlier one of the sample's name are there
// again, as from a backup, and the collector is late; then there is the sample, and is edited.
func (f *found) restored(s *subject) place {
	p := place{name: "restored", settled: true, faults: few}
	var free []casefile.Action
	for _, d := range f.each() {
		o := d.copied(stray)
		if f.gives(d) {
			o = d.copied(d.GetName())
		}
		ref := reference(s.owner)
		ref["uid"] = before
		o.Object["metadata"].(map[string]any)["ownerReferences"] = []any{ref}
		if err := s.makes(o); err != nil {
			p.why = "no copy of a " + d.GetKind() + " can be made: " + err.Error()
		}
		p.user = slices.Insert(p.user, 0, casefile.Verb("hold gc sees="+d.GetKind()))
		p.user = append(p.user, casefile.Apply(o.text()))
		free = append(free, casefile.Verb("release gc sees="+d.GetKind()))
	}
	if len(free) == 0 {
		p.why = "it has no dependents: what it creates has no ControllerRef to its owner"
	}
	p.user = append(append(p.user, casefile.Verb("settle")), f.again(s)...)
	p.user = append(p.user, free...)
	return p
}

// replaced is the world in which a dependent that is wanted no longer has gone before the controller deletes it,
// and its name is somebody else's: who deletes by the name alone deletes that.
func (f *found) replaced(s *subject) place {
	p := place{name: "replaced", objects: f.both(s), settled: true, faults: few}
	rival := f.rival(s)
	fewer, ok := f.less()
	left, err := f.surplus(s, fewer)
	switch {
	case f.lone(rival) != "":
		p.why = f.lone(rival)
	case len(f.fixed) == 0:
		p.why = "it gives its dependents no names: none is another's afterwards"
	case !ok:
		p.why = "no number in its sample's spec is known by which it wants fewer dependents"
	case err != nil:
		p.why = "it cannot be made with fewer dependents: " + err.Error()
	case len(left) == 0:
		p.why = "with fewer dependents it has none less of those that it names"
	}
	if p.why != "" {
		return p
	}
	p.objects = append([]manifest{rival}, p.objects...)
	var free []casefile.Action
	for _, d := range left {
		theirs := owned(d.copied(d.GetName()), rival)
		if err := s.makes(theirs); err != nil {
			p.why = "no copy of a " + d.GetKind() + " can be made: " + err.Error()
		}
		held := s.Controller.Name + " sees=" + d.GetKind()
		p.user = append(p.user, casefile.Verb("hold "+held), gone(d), casefile.Apply(theirs.text()))
		free = append(free, casefile.Verb("release "+held))
	}
	p.user = append(p.user, patch(f.of, f.scale.patch(fewer)))
	p.user = append(p.user, free...)
	return p
}

// surplus are the sample's dependents beside a second owner, of the kinds that it names, that it does not have
// when it wants fewer.
func (f *found) surplus(s *subject, fewer any) (list []manifest, err error) {
	if fewer == nil || len(f.pair) == 0 {
		return nil, nil
	}
	owner := manifest{s.owner.DeepCopy()}
	f.scale.set(owner.Object, fewer)
	r, err := s.run(owner, f.second)
	if err != nil {
		return nil, err
	}
	defer r.Stop()
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
