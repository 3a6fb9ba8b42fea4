package scenarios

import (
	"cmp"
	"slices"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// Beside is a write by a controller in some schedule that the laws on dependents cover only partly, or not at all.
type Beside struct {
	Controller string // "" if no controller did it
	Kind       string // the kind that it wrote
	Why        Aside
}

// Aside is the reason.
type Aside uint8

// Reasons why the laws cover a write less.
const (
	Unowned Aside = iota // it created such objects, but the kind is in neither Owns nor MayEdit
	Unkeyed              // it wrote its own objects while reconciling keys that never name an object of its kind
	alike                // two kinds have that name
)

// unowned lists kinds whose objects need no owner: reports, and leases for leader election.
var unowned = []string{"Event", "Lease"}

// look records what the controllers of a run did beside their dependents.
func (a *asked) look(r *Run) {
	h := &r.t.World.History
	names := map[sim.Ref]bool{}
	controllers := map[string]*host.Controller{}
	for _, p := range r.t.Cluster.Processes() {
		c := p.Controller()
		controllers[p.Name] = &c
	}
	for i := range h.Len() {
		if rec := h.At(i); rec != nil && rec.Op == sim.Commit {
			names[nameOnly(rec.Object)] = true
		}
	}
	found := map[Beside]bool{}
	for i := range h.Len() {
		rec := h.At(i)
		if rec == nil || rec.Op != sim.Commit || controllers[rec.Process] == nil {
			continue
		}
		c, kind := controllers[rec.Process], rec.Object.Kind
		owns := kinds(c)
		if c.For.Empty() {
			continue
		}
		switch own := slices.Contains(owns, kind); {
		case slices.Contains(c.Contract.Standalone, nameOnly(rec.Object)):
		case rec.Before == nil && !own && kind != c.For.Kind && !slices.Contains(unowned, kind):
			found[Beside{c.Name, kind, Unowned}] = true
		case own && rec.For.UID == "" && !names[nameOnly(rec.For)]:
			found[Beside{c.Name, kind, Unkeyed}] = true
		}
	}
	for _, kind := range twofold(r, controllers) {
		found[Beside{"", kind, alike}] = true
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	for b := range found {
		a.beside[b] = true
	}
}

// kinds returns the kinds in a controller's declaration.
func kinds(c *host.Controller) []string {
	var all []string
	for _, gvk := range slices.Concat(c.Owns, c.Contract.MayEdit) {
		all = append(all, gvk.Kind)
	}
	return all
}

// twofold lists the controllers' kinds whose name also exists in another group.
func twofold(r *Run, controllers map[string]*host.Controller) []string {
	var all []string
	for _, c := range controllers {
		for _, gvk := range append(slices.Concat(c.Owns, c.Contract.MayEdit), c.For) {
			for _, k := range r.t.Server.Kinds() {
				if k.GVK.Kind == gvk.Kind && k.GVK.Group != gvk.Group && r.t.Server.Len(k) > 0 {
					all = append(all, gvk.Kind)
				}
			}
		}
	}
	return all
}

func nameOnly(r sim.Ref) sim.Ref { return sim.Ref{Kind: r.Kind, Namespace: r.Namespace, Name: r.Name} }

// tellBeside adds this to the exploration of a file.
func (a *asked) tellBeside(x *Exploration) {
	for b := range a.beside {
		if b.Why == alike {
			x.Alike = append(x.Alike, b.Kind)
		} else {
			x.Beside = append(x.Beside, b)
		}
	}
	slices.Sort(x.Alike)
	slices.SortFunc(x.Beside, func(b, c Beside) int {
		return cmp.Or(cmp.Compare(b.Controller, c.Controller), cmp.Compare(b.Kind, c.Kind), cmp.Compare(b.Why, c.Why))
	})
}
