package scenarios

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// Beside describes writes that the laws about a controller's dependents cover only in part, or not at all.
type Beside struct {
	Controller string // the controller's name
	Kind       string // the kind of the written object
	// If Unkeyed is true, Kind is in Owns or MayEdit, and the controller wrote the object while it reconciled a key
	// that never named an object. If Unkeyed is false, Kind is in neither, and the controller created the object.
	Unkeyed bool
}

// unowned lists kinds whose objects need no owner: events, and leases for leader election.
var unowned = []string{"Event", "Lease"}

// look records the writes of a run that are described at [Beside].
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
			found[Beside{c.Name, kind, false}] = true
		case own && rec.For.UID == "" && !names[nameOnly(rec.For)]:
			found[Beside{c.Name, kind, true}] = true
		}
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	maps.Copy(a.beside, found)
	for _, kind := range twofold(r, controllers) {
		a.alike[kind] = true
	}
}

func kinds(c *host.Controller) []string {
	var all []string
	for _, gvk := range slices.Concat(c.Owns, c.Contract.MayEdit, c.Contract.Outlives) {
		all = append(all, gvk.Kind)
	}
	return all
}

// twofold lists the kinds of the controllers if the server has objects of an equally named kind in another API group.
func twofold(r *Run, controllers map[string]*host.Controller) []string {
	var all []string
	for _, c := range controllers {
		for _, gvk := range append(slices.Concat(c.Owns, c.Contract.MayEdit, c.Contract.Outlives), c.For) {
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

func (a *asked) tellBeside(x *Exploration) {
	x.Alike = slices.Sorted(maps.Keys(a.alike))
	x.Beside = slices.Collect(maps.Keys(a.beside))
	slices.SortFunc(x.Beside, func(b, c Beside) int {
		return cmp.Or(cmp.Compare(b.Controller, c.Controller), cmp.Compare(b.Kind, c.Kind),
			cmp.Compare(strconv.FormatBool(b.Unkeyed), strconv.FormatBool(c.Unkeyed)))
	})
}
