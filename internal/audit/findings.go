package audit

import (
	"slices"
	"time"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

// Finding is one actor's violations of one law, on dependents of owners of one kind.
type Finding struct {
	ID       string    `json:"id"` // of the clause
	Law      string    `json:"law"`
	Sentence string    `json:"sentence"`
	Source   string    `json:"source"`
	Actor    string    `json:"actor"`
	Count    int       `json:"count"`
	First    time.Time `json:"first"`
	Last     time.Time `json:"last"`
	Text     string    `json:"text"`    // of the first
	Objects  []string  `json:"objects"` // the first few
	Doubt    bool      `json:"doubt,omitempty"`
	Owner    string    `json:"owner,omitempty"` // of the first, before the write
	Story    []line    `json:"story"`           // of the first

	kind  string // of the owner
	what  string // the kind of what was edited, "" for other writes
	who   *Actor
	marks []render.Mark // on the first few of its records
}

// findings lists all findings, in order.
type findings struct {
	list []*Finding
	by   map[finding]*Finding
}

type finding struct {
	law        *law.Law
	who        *Actor
	kind, what string
	doubt      bool
}

func newFindings() *findings { return &findings{by: map[finding]*Finding{}} }

// mostObjectsNamed limits the objects that a finding names.
const mostObjectsNamed = 3

// add records a violation, and reports whether it is the first of its finding.
func (f *findings) add(c *change, b *law.Breach) (first bool) {
	key := finding{law: b.Law, who: c.who, doubt: b.Strength == law.Committed}
	owner := c.before.controller()
	if owner != nil {
		key.kind = groupKind(owner)
	}
	if b.Law.ID == ownedLaw {
		key.what = c.edited
	}
	found := f.by[key]
	if first = found == nil; first {
		found = &Finding{ID: b.Law.ID, Law: b.Law.Name, Sentence: b.Law.Sentence, Source: b.Law.Source,
			Actor: c.who.Name, First: c.at, Text: b.Text, Doubt: key.doubt, kind: key.kind, what: key.what, who: c.who}
		if owner != nil {
			found.Owner = sim.Short(owner.Kind) + "/" + owner.Name
		}
		if c.entry != nil {
			found.Story = slices.Clone(c.entry.lines)
		}
		found.Story = append(found.Story, lineOf(c))
		f.by[key] = found
		f.list = append(f.list, found)
	}
	found.Count++
	found.Last = c.at
	if len(found.marks) < mostMarksOfFinding {
		found.marks = append(found.marks, render.MarkOf(*b))
	}
	name := sim.Ref{Kind: c.kind, Namespace: c.place.namespace, Name: c.place.name}.String()
	if len(found.Objects) < mostObjectsNamed && !slices.Contains(found.Objects, name) {
		found.Objects = append(found.Objects, name)
	}
	return first
}

// ownedLaw is the clause against editing or deleting what another controls.
const ownedLaw = "LAW-2"

// final returns the findings that remain at the end of the log. By then an actor may have been seen creating dependents
// for a kind, or working on its objects; its earlier writes to these were right.
func (f *findings) final() []*Finding {
	out := []*Finding{}
	for _, found := range f.list {
		if found.ID == ownedLaw && found.kind != "" && found.who.Sort == Program &&
			(found.who.makes(found.kind) || found.who.tends(found.what)) {
			continue
		}
		out = append(out, found)
	}
	slices.SortStableFunc(out, func(a, b *Finding) int {
		switch {
		case a.Doubt == b.Doubt:
			return 0
		case a.Doubt:
			return 1
		}
		return -1
	})
	return out
}
