package trial

import (
	"slices"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// Trap crashes a process at a point of its next matching request.
type Trap struct {
	Process string
	After   bool          // after the server executed the request, before the answer arrives
	Verb    fakeapi.Verb  // "" for any write
	Kind    *fakeapi.Kind // nil for any
	Name    string        // "" for any
	Back    bool          // the process restarts by itself
}

func (t *Trial) Set(x Trap) { t.traps = append(t.traps, &x) }

// spring crashes the processes whose traps the last step reached.
func (t *Trial) spring() {
	t.traps = slices.DeleteFunc(t.traps, func(x *Trap) bool {
		p := t.Cluster.Process(x.Process)
		if p == nil || p.Down {
			return false
		}
		req, answered, ok := p.Asking()
		if !ok || answered != x.After || !x.matches(req) {
			return false
		}
		t.World.Do("crash "+x.Process, func() { p.Crash(x.Back) })
		return true
	})
}

func (x *Trap) matches(req *fakeapi.Request) bool {
	if x.Verb == "" && (req.Verb == fakeapi.Get || req.Verb == fakeapi.List) || x.Verb != "" && x.Verb != req.Verb {
		return false
	}
	return (x.Kind == nil || x.Kind.GVK == req.Kind.GVK) && (x.Name == "" || x.Name == req.Name)
}

func (x *Trap) digest(h *sim.Hash) {
	h.String(x.Process)
	h.Bool(x.After)
	h.Bool(x.Back)
	h.String(string(x.Verb))
	if x.Kind != nil {
		h.String(x.Kind.GVK.Kind)
	}
	h.String(x.Name)
}
