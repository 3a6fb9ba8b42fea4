package audit

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

// Report is the result of judging a log.
type Report struct {
	Files      []string          `json:"files"`
	Lines      int               `json:"lines"`
	Writes     int               `json:"writes"` // the number of successful writes
	Judged     int               `json:"judged"` // the number of writes that the laws judged
	From       time.Time         `json:"from"`
	To         time.Time         `json:"to"`
	Violations []*ViolationGroup `json:"violations"`
	Doubtful   []*ViolationGroup `json:"doubtful"` // violations by actors that may not have known the latest state
	Fights     []*Fight          `json:"fights"`
	Laws       []Verdict         `json:"laws"`
	Left       []*Left           `json:"left"`
	Skipped    []*Skipped        `json:"skipped"`
	Notes      []string          `json:"notes"`
	Violated   bool              `json:"violated"` // whether a law is violated
}

// Verdict is the result for one law.
type Verdict struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Judged bool   `json:"judged"`
	Why    string `json:"why,omitempty"` // why the law was not judged
	Count  int    `json:"count"`
}

// fightLaw is the ID of the clause about fights. The auditor finds fights itself, without the judge.
const fightLaw = "NOFIGHT-1"

// Report returns the findings so far.
func (a *Auditor) Report(s *Source) *Report {
	r := &Report{Files: []string{}, Lines: s.Lines, Writes: a.writes, Judged: a.judged, From: a.first, To: a.last,
		Fights: a.fights.final(), Left: []*Left{}, Skipped: []*Skipped{}, Notes: append([]string{}, s.notes...),
		Violations: []*ViolationGroup{}, Doubtful: []*ViolationGroup{}, Laws: []Verdict{}}
	for _, f := range s.files {
		r.Files = append(r.Files, f.name)
	}
	for _, f := range a.findings.final() {
		if f.Doubt && !a.Strict {
			r.Doubtful = append(r.Doubtful, f)
		} else {
			r.Violations = append(r.Violations, f)
		}
	}
	for _, why := range a.told {
		r.Left = append(r.Left, a.left[why])
	}
	for _, why := range slices.Sorted(maps.Keys(s.skipped)) {
		r.Skipped = append(r.Skipped, s.skipped[why])
	}
	r.Violated = len(r.Violations)+len(r.Fights) > 0
	r.verdicts(a.judge.Verdicts())
	return r
}

func (r *Report) verdicts(all []law.Verdict) {
	for _, v := range all {
		one := Verdict{ID: v.Law.ID, Name: v.Law.Name, Judged: v.Why == "", Why: v.Why}
		if v.Law.ID == fightLaw {
			one.Judged, one.Why, one.Count = true, "", len(r.Fights)
		}
		for _, f := range r.Violations {
			if f.ID == one.ID {
				one.Count += f.Count
			}
		}
		r.Laws = append(r.Laws, one)
	}
}

// Violators lists the actors with violations, in order of their first violation, and then the violators of fights.
func (r *Report) Violators() []string {
	type charge struct {
		who   string
		first time.Time
	}
	var all []charge
	for _, f := range r.Violations {
		all = append(all, charge{f.Actor, f.First})
	}
	slices.SortStableFunc(all, func(a, b charge) int { return cmp.Compare(a.first.UnixNano(), b.first.UnixNano()) })
	for _, f := range r.Fights {
		for _, who := range f.Violators {
			all = append(all, charge{who, f.First})
		}
	}
	var out []string
	for _, c := range all {
		if !slices.Contains(out, c.who) {
			out = append(out, c.who)
		}
	}
	return out
}

// ViolationGroup contains the violations of one law by one actor, on dependents of owners of one kind.
type ViolationGroup struct {
	ID       string    `json:"id"` // the ID of the law's clause
	Law      string    `json:"law"`
	Sentence string    `json:"sentence"`
	Source   string    `json:"source"`
	Actor    string    `json:"actor"`
	Count    int       `json:"count"`
	First    time.Time `json:"first"`
	Last     time.Time `json:"last"`
	Text     string    `json:"text"`    // the text of the first violation
	Objects  []string  `json:"objects"` // the first few objects
	Doubt    bool      `json:"doubt,omitempty"`
	Owner    string    `json:"owner,omitempty"` // the first object's owner before the write
	Story    []line    `json:"story"`           // what happened to the first object

	kind  string // the owner's kind; see [groupKind]
	what  string // for violations of LAW-2: the edited kind ("Kind.group"); otherwise ""
	who   *Actor
	marks []render.Mark // marks on the first few records of the group
}

type findings struct {
	list []*ViolationGroup
	by   map[groupKey]*ViolationGroup
}

type groupKey struct {
	law        *law.Law
	who        *Actor
	kind, what string
	doubt      bool
}

func newFindings() *findings { return &findings{by: map[groupKey]*ViolationGroup{}} }

const mostObjectsNamed = 3

// add adds a violation to its group, and reports whether it is the first violation in the group.
func (f *findings) add(c *change, b *law.Violation) (first bool) {
	key := groupKey{law: b.Law, who: c.who, doubt: b.Strength == law.Committed}
	owner := c.before.controller()
	if owner != nil {
		key.kind = groupKind(owner)
	}
	if b.Law.ID == ownedLaw {
		key.what = c.edited
	}
	found := f.by[key]
	if first = found == nil; first {
		found = &ViolationGroup{ID: b.Law.ID, Law: b.Law.Name, Sentence: b.Law.Sentence, Source: b.Law.Source,
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

// ownedLaw is the ID of the clause that forbids editing or deleting an object that another controller owns.
const ownedLaw = "LAW-2"

// final returns the findings at the end of the log. It drops a finding of LAW-2 if the log later shows that the actor
// creates dependents for the owner's kind, or is responsible for the edited kind.
func (f *findings) final() []*ViolationGroup {
	out := []*ViolationGroup{}
	for _, found := range f.list {
		if found.ID == ownedLaw && found.kind != "" && found.who.Sort == Program &&
			(found.who.makes(found.kind) || found.who.responsible(found.what)) {
			continue
		}
		out = append(out, found)
	}
	slices.SortStableFunc(out, func(a, b *ViolationGroup) int {
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

type line struct {
	At     time.Time `json:"at"`
	Who    string    `json:"who"`
	Did    string    `json:"did"` // "patch"
	Object string    `json:"object"`
	Change string    `json:"change,omitempty"`
}

func lineOf(c *change) line {
	did := c.verb
	if c.sub != "" {
		did += " " + c.sub
	}
	ref := sim.Ref{Kind: c.kind, Namespace: c.place.namespace, Name: c.place.name}
	return line{At: c.at, Who: c.who.Name, Did: did, Object: ref.String(), Change: c.wording()}
}

func (c *change) wording() string {
	var parts []string
	b, n, d := c.before, c.after, c.says
	switch {
	case c.met:
		return ""
	case b == nil:
		return strings.Join(owned(n), "; ")
	case n == nil:
		return strings.Join(append([]string{"gone"}, owned(b)...), "; ")
	}
	if d.deletes {
		parts = append(parts, "deletionTimestamp set")
	}
	if d.owner {
		parts = append(parts, "controller: "+controllerName(b)+" -> "+controllerName(n))
	}
	if d.labels {
		parts = append(parts, render.MapChanges("labels", b.Labels, n.Labels)...)
	}
	for what, is := range map[string]bool{"finalizers": d.finalizers, "owners": d.refs, "spec": d.spec} {
		if is {
			parts = append(parts, what)
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, "; ")
}

func owned(o *Object) []string {
	switch {
	case o.controller() != nil:
		return []string{"controller: " + controllerName(o)}
	case len(o.OwnerReferences) > 0:
		return []string{"owner, no controller: " + sim.Short(o.OwnerReferences[0].Kind) + "/" +
			o.OwnerReferences[0].Name}
	}
	return nil
}

func controllerName(o *Object) string {
	if ref := o.controller(); ref != nil {
		return ownerName(ref)
	}
	return "none"
}

func ownerName(ref *metav1.OwnerReference) string { return sim.Short(ref.Kind) + "/" + ref.Name }

const mostLines = 5

// told adds a change to an object's story. It leaves out an update that changes no owner references, no labels and no
// spec, and does not delete the object.
func (n *entry) told(c *change) {
	if c.before != nil && !c.says.owner && !c.says.labels && !c.says.spec && !c.says.deletes && !c.says.refs {
		return
	}
	if len(n.lines) == mostLines {
		n.lines = append(n.lines[:1], n.lines[2:]...) // the first line is kept
	}
	n.lines = append(n.lines, lineOf(c))
}
