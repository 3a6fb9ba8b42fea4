package check

import "github.com/threelaws/threelaws/scenarios/casefile"

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
