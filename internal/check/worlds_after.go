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
	p := place{name: "going", objects: []manifest{held}, settled: true, faults: few,
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
	p := place{name: "namesake/restored", settled: true, faults: few}
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
