package audit

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

// Options configure how a log is judged.
type Options struct {
	Controllers []Controller // the known controllers of kube-controller-manager
	Laws        []*law.Law
	Rules       Rules
	Strict      bool      // count also violations by actors that may not have known the latest state
	Until       time.Time // ignore later events; the zero time means no limit
	Keep        bool      // keep the records for [Auditor.Shown]
}

// Auditor judges the events of a log.
type Auditor struct {
	Options

	judge      *law.Judge
	store      *store
	actors     *actors
	sorter     *sorter
	fights     *fights
	owners     map[types.UID]*entry
	introduced map[string]bool                      // actors that the judge knows
	made       map[string][]schema.GroupVersionKind // the kinds that each actor has created in the log

	index       int
	first, last time.Time
	writes      int // the number of successful writes
	judged      int // the number of writes that the laws evaluated
	findings    *findings
	left        map[string]*Left
	ids         map[uint64]bool // IDs of the latest events
	ring        []uint64
	turn        int
	kept        kept
	fought      int      // the number of fights found
	told        []string // the keys of the map left, in the order in which they were added
}

// Left counts the writes that were not judged for one reason.
type Left struct {
	Why   string `json:"why"`
	Count int    `json:"count"`
	First string `json:"first"` // the first of these writes, such as "update t/pods/web-1 by alice"
}

// remembered is the minimal number of records for which the judge keeps an object that nothing refers to.
const remembered = 20_000

// New returns an auditor that has read no events.
func New(o Options) *Auditor {
	a := &Auditor{Options: o, store: newStore(), actors: newActors(o.Rules, o.Controllers), sorter: newSorter(),
		fights: newFights(), owners: map[types.UID]*entry{}, introduced: map[string]bool{}, made: map[string][]schema.GroupVersionKind{},
		findings: newFindings(), ids: map[uint64]bool{}, left: map[string]*Left{}}
	a.kept.most = mostKept
	a.judge = law.NewJudge(nil, o.Laws)
	a.judge.Evidence = law.Commits
	a.judge.Memory = remembered
	for i := range o.Controllers {
		a.introduce(o.Controllers[i].Actor)
	}
	return a
}

// Run judges the events of a source. It calls progress after every 1000 events, and ends if progress returns true.
func (a *Auditor) Run(s *Source, progress func() (stop bool)) error {
	for n := 1; ; n++ {
		e, err := s.next()
		if err != nil {
			return err
		}
		if e == nil || n%1000 == 0 && progress() {
			break
		}
		if !a.Until.IsZero() && e.at.After(a.until(e.at)) {
			continue
		}
		if !a.twice(e.id) {
			a.sorter.add(e, a.take)
		}
	}
	a.sorter.end(a.take)
	return nil
}

// lately is the number of event IDs that are kept to detect events that a log collector delivers twice.
const lately = 1 << 13

func (a *Auditor) twice(id uint64) bool {
	if id == 0 {
		return false
	}
	if a.ids[id] {
		return true
	}
	if len(a.ring) == lately {
		delete(a.ids, a.ring[a.turn])
		a.ring[a.turn] = id
		a.turn = (a.turn + 1) % lately
	} else {
		a.ring = append(a.ring, id)
	}
	a.ids[id] = true
	return false
}

// take judges one event. Events must be passed in order.
func (a *Auditor) take(e *event) {
	if e.doubt {
		a.store.doubt()
		return
	}
	if a.first.IsZero() {
		a.first = e.at
	}
	if e.at.After(a.last) {
		a.last = e.at
	}
	who := a.actors.of(e.user, e.agent)
	switch {
	case reads[e.verb]:
		if e.code < 300 && who.Sort == Program {
			who.reads.note(e.place, e.at)
		}
		return
	case e.code >= 400:
		a.refused(e, who)
		return
	}
	a.writes++
	for _, c := range a.changes(e, who) {
		a.hold(c)
	}
}

func (a *Auditor) refused(e *event, who *Actor) {
	kind := a.store.kindOf(e.place, nil)
	if who.Sort != Known || kind == "" || e.code != 422 {
		return
	}
	a.introduce(who.known.Actor)
	c := &change{event: e, who: who, kind: kind, entry: a.store.at(e.place)}
	a.show(c, &sim.Record{Index: a.index, Step: a.index, At: e.at.Sub(a.first), Op: sim.Refusal, Cause: -1,
		Process: who.known.Process, Verb: e.verb, Subresource: e.sub, Code: e.code, Reason: e.reason, Message: e.message,
		Object: sim.Ref{Kind: kind, Namespace: e.place.namespace, Name: e.place.name}})
}

func (a *Auditor) hold(c *change) {
	if old := c.entry; old != nil && old.now != nil && (c.before == nil && !c.met ||
		c.after != nil && old.now.UID != c.after.UID) {
		a.vanish(old)
		c.entry = nil
	}
	c.says = c.compare()
	a.learnKinds(c)
	r := a.roleOf(c)
	if c.met {
		a.leave(whyUnknown, c.event)
	} else {
		a.judged++
	}
	a.observe(c, r)
	a.keep(c)
}

func (a *Auditor) observe(c *change, by role) {
	r := sim.Record{Index: a.index, Step: a.index, At: c.at.Sub(a.first), Op: sim.Commit, Cause: -1,
		Process: by.process, For: by.owner, Verb: c.verb, Subresource: c.sub,
		Object: sim.Ref{Kind: c.kind, Namespace: c.place.namespace, Name: c.place.name}, Version: c.order}
	if c.after != nil {
		r.After, r.Object.UID = c.after, string(c.after.UID)
	}
	r.Guards.UID = c.asked.uid || !c.asked.known // an unknown request body may contain the UID
	r.Guards.ResourceVersion = c.asked.version != "" || c.asked.watched
	r.Guards.Applies = c.asked.applies && c.says.owner
	if c.before != nil {
		r.Before, r.Object.UID = c.before, string(c.before.UID)
	}
	if c.met {
		if known, _ := a.object(c.after.UID); known != nil {
			r.Before = known
		}
	} else {
		r.Saw = a.saw(c)
	}
	a.show(c, &r)
}

// show passes a record to the judge, and collects the violations.
func (a *Auditor) show(c *change, r *sim.Record) {
	a.judge.Observe(r)
	if a.Keep {
		shown := *r
		if shown.Process = c.who.Name; c.who.known != nil {
			shown.Process = c.who.known.Process
		}
		shown.Process = account(shown.Process)
		a.kept.add(shown)
	}
	c.index = a.index
	a.index++
	if list := a.judge.Violations(); len(list) > 0 {
		for i := range list {
			if !c.met && a.findings.add(c, &list[i]) {
				a.kept.found = append(a.kept.found, c.index)
			}
		}
		a.judge.Since(a.index) // a.findings has these violations now, so the judge can drop them
	}
}

// keep updates the known state of the cluster after a change.
func (a *Auditor) keep(c *change) {
	if a.fights.note(a, c); len(a.fights.found) > a.fought {
		a.fought = len(a.fights.found)
		a.kept.found = append(a.kept.found, c.index)
	}
	if c.after == nil {
		if c.entry != nil {
			delete(a.owners, c.before.UID)
			a.store.remove(c.entry)
		}
		return
	}
	moved := c.met || c.entry != nil && !sameController(c.entry.now, c.after)
	n, gone := a.store.put(c.place, c.kind, c.after)
	if c.entry == nil {
		n.since, n.constant = time.Time{}, false
		if c.before == nil && !c.met {
			n.maker, n.since, n.constant = c.who, c.at, true
		}
		c.entry = n
	} else if moved {
		n.since, n.constant = c.at, false
		if c.met {
			n.since = time.Time{}
		}
	}
	n.told(c)
	a.owners[c.after.UID] = n
	for _, old := range gone {
		a.forgotten(old)
	}
}

func sameController(a, b *Object) bool {
	x, y := a.controller(), b.controller()
	return (x == nil) == (y == nil) && (x == nil || x.UID == y.UID)
}

// vanish removes an object that no longer exists, although the log contains no deletion.
func (a *Auditor) vanish(n *entry) {
	a.store.remove(n)
	a.forgotten(n)
}

func (a *Auditor) forgotten(n *entry) {
	if n.now == nil {
		return
	}
	delete(a.owners, n.now.UID)
	known, ref := a.object(n.now.UID)
	if known == nil {
		return
	}
	r := sim.Record{Index: a.index, Step: a.index, Op: sim.Commit, Cause: -1, Process: exempt, Verb: "delete",
		At: a.last.Sub(a.first), Object: ref, Before: known}
	a.judge.Observe(&r)
	if a.Keep {
		a.kept.add(r)
	}
	a.index++
	a.judge.Since(a.index)
}

func (a *Auditor) leave(why string, e *event) {
	l := a.left[why]
	if l == nil {
		l = &Left{Why: why, First: e.verb + " " + e.place.String() + " by " + e.user}
		a.left[why] = l
		a.told = append(a.told, why)
	}
	l.Count++
}

// Owned lists the objects that have an owner or are an owner at the end of the log, sorted by kind, namespace and name.
func (a *Auditor) Owned() []render.Object {
	var all []render.Object
	var within []sim.Ref
	for _, n := range a.store.objects {
		if n.now == nil || n.kind == "" {
			continue
		}
		o := render.Object{Ref: n.ref(), Owners: render.Owners(n.now), Deleting: n.now.deleting()}
		all = append(all, o)
		if len(o.Owners) > 0 {
			within = append(within, o.Ref)
		}
	}
	slices.SortFunc(all, func(x, y render.Object) int { return render.CompareRefs(x.Ref, y.Ref) })
	return render.Related(all, within...)
}

// clockOnly is the year in the result of ParseUntil if the text is only a time of day.
const clockOnly = 1

// ParseUntil parses a time, or a time of day. A time of day is in UTC, on the first day of the log.
func ParseUntil(text string) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return at, nil
	}
	for _, layout := range []string{"15:04:05.999999999", "15:04"} {
		if at, err := time.Parse(layout, text); err == nil {
			return time.Date(clockOnly, 1, 1, at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time: want 2026-11-21T10:02:30Z, or 10:02:30", text)
}

func (a *Auditor) until(begins time.Time) time.Time {
	u := a.Until
	if u.Year() == clockOnly && !u.IsZero() {
		y, m, d := begins.UTC().Date()
		a.Until = time.Date(y, m, d, u.Hour(), u.Minute(), u.Second(), u.Nanosecond(), time.UTC)
	}
	return a.Until
}
