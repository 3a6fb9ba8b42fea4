package audit

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// change is what one write did to one object.
type change struct {
	*event
	who           *Actor
	entry         *entry // of the object before the write; nil for one that was not known
	kind          string
	before, after *Object // nil: it was not there, or is gone

	met     bool // what it was before is not known: nothing can be said of the write
	assumed bool // what it was is taken from what it is: owners are known, contents are not
	family  bool // it is the actor's own, by whatever way
	says    edit
	edited  string // what it is, as [groupKind] writes it, where it is edited and programs may have its kind to tend
	index   int    // of its record
}

// wholes are the subresources whose requests are answered with the object itself.
var wholes = map[string]bool{"": true, "status": true, "finalize": true, "ephemeralcontainers": true, "resize": true,
	"approval": true}

// The reasons for which writes are not judged.
const (
	whyBodies  = "writes of which the log has not what came of them: it is below level RequestResponse, or cut off"
	whyLate    = "writes that stand in the log far behind what came after them: give each apiserver's file by itself"
	whyUnknown = "writes to objects of which the log does not show what they were before"
	whyKind    = "writes to objects of which the log does not show of what kind they are"
)

// changes works out what an event did.
func (a *Auditor) changes(e *event, who *Actor) []*change {
	switch {
	case e.bodiless && e.verb != "delete", e.bodiless && e.after == nil && a.store.at(e.place) == nil:
		a.lost(e)
		return nil
	case e.verb == "deletecollection":
		return a.collected(e, who)
	case e.sub == "scale":
		return a.scaled(e, who)
	case !wholes[e.sub]:
		return nil // a binding, an eviction: the object itself is not in the answer
	case e.after != nil && e.after.Name != e.place.name && e.place.name != "":
		return nil
	}
	c := a.change(e, who)
	if c == nil {
		return nil
	}
	c.kind = a.store.kindOf(e.place, c.after)
	if c.kind == "" && c.entry != nil {
		c.kind = c.entry.kind
	}
	if c.kind == "" {
		a.leave(whyKind, e)
		return nil
	}
	return []*change{c}
}

// lost forgets what a write without a body was to.
func (a *Auditor) lost(e *event) {
	a.leave(whyBodies, e)
	if n := a.store.at(e.place); n != nil {
		n.late = true
	} else if e.place.name == "" && e.verb == "deletecollection" {
		a.store.doubt()
	}
}

func (a *Auditor) change(e *event, who *Actor) *change {
	c := &change{event: e, who: who, after: e.after, entry: a.store.at(e.place)}
	known := c.entry
	if !a.store.current(known) {
		known = nil
	}
	switch {
	case e.verb == "create" || e.code == 201 && e.verb != "delete":
		if c.after == nil {
			return nil
		}
		return c
	case e.verb == "delete":
		return a.deleted(c, known)
	case c.after == nil:
		a.lost(e)
		return nil
	}
	if !c.asked.known {
		c.met = true
		return c
	}
	if known != nil && known.now.UID == c.after.UID {
		if v := number([]byte(known.now.ResourceVersion)); c.order != 0 && v != 0 && c.order <= v {
			if c.order < v {
				a.leave(whyLate, e)
			}
			return nil // nothing was changed, or it is told twice
		}
		c.before = known.now
	}
	c.fill()
	return c
}

// fill works out what an object was before an update or a patch.
func (c *change) fill() {
	partly := c.verb == "patch" || c.sub == "status" // what it does not speak of it cannot have changed
	if b, named := c.before, c.asked.version; b != nil && !partly && named != "" && b.ResourceVersion != "" &&
		named != b.ResourceVersion {
		c.before = nil // somebody wrote in between, and the log does not have it
	}
	if c.before == nil {
		if !partly || c.verb == "patch" && c.asked.owners || c.after.partial {
			c.met = true
			return
		}
		c.before, c.assumed = c.after, true
		return
	}
	c.complete()
	if partly {
		c.before = c.unspoken()
	}
}

// unspoken is what an object was before a write that speaks of a part of it: the rest was
// as it is now, whoever changed that before.
func (c *change) unspoken() *Object {
	b, n, put := *c.before, c.after, c.verb != "patch"
	if put || !c.asked.owners {
		b.OwnerReferences = n.OwnerReferences
	}
	if is := n.controller(); c.who.Sort == Known && c.asked.text != "" && is != nil && !sameController(c.before, n) {
		// Its patches that adopt take off nothing that they do not name: what is gone went before.
		b.OwnerReferences = slices.DeleteFunc(slices.Clone(b.OwnerReferences), func(r metav1.OwnerReference) bool {
			stays := slices.ContainsFunc(n.OwnerReferences,
				func(x metav1.OwnerReference) bool { return x.UID == r.UID })
			return !stays && !strings.Contains(c.asked.text, string(r.UID))
		})
	}
	if put || !c.asked.labels {
		b.Labels = n.Labels
	}
	if put || !c.asked.finalizers {
		b.Finalizers = n.Finalizers
	}
	switch {
	case n.partial:
	case b.partial, c.sub == "" && !c.asked.body:
		b.Body, b.spec, b.specSum, b.status = n.Body, n.spec, n.specSum, n.status
	case put, !c.asked.body, c.sub == "status":
		b.Body = b.Body ^ b.specSum ^ n.specSum
		b.spec, b.specSum = n.spec, n.specSum
	}
	if n.deleting() && !b.deleting() {
		b.DeletionTimestamp = n.DeletionTimestamp // by an eviction
	}
	return &b
}

// complete takes what the answer leaves out of an object from what it was.
func (c *change) complete() {
	if c.after.partial {
		o := *c.after
		o.apiVersion, o.kind, o.partial = c.before.apiVersion, c.before.kind, c.before.partial
		o.spec, o.status, o.specSum, o.Body = c.before.spec, c.before.status, c.before.specSum, c.before.Body
		c.after = &o
	}
}

// deleted works out a deletion. The answer is the object with its deletion timestamp, or
// a Status where it is gone.
func (a *Auditor) deleted(c *change, known *entry) *change {
	if c.after == nil {
		if known == nil {
			a.lost(c.event)
			if c.entry != nil {
				a.vanish(c.entry)
			}
			return nil
		}
		b := *known.now
		b.Finalizers = nil // what has any does not go at once
		c.before = &b
		return c
	}
	c.before = c.after.undeleted()
	if known != nil && known.now.UID == c.after.UID {
		b := *known.now
		b.OwnerReferences, b.Labels, b.Finalizers = c.after.OwnerReferences, c.after.Labels, c.before.Finalizers
		c.before = &b
	} else {
		c.assumed = true
	}
	if c.after.partial {
		c.complete()
	}
	if c.after.gone() || !c.after.deleting() {
		c.after = nil
	}
	return c
}

// collected works out the deletion of a collection: the answer lists what was there.
func (a *Auditor) collected(e *event, who *Actor) (all []*change) {
	for _, o := range e.items {
		one := *e
		one.place.name = o.Name
		one.after = nil
		c := &change{event: &one, who: who, before: o, entry: a.store.at(one.place), kind: a.store.kindOf(one.place, o)}
		if c.entry != nil {
			c.kind = c.entry.kind
		}
		if c.kind == "" {
			a.leave(whyKind, e)
			continue
		}
		if c.assumed = c.entry == nil; !c.assumed && c.entry.now != nil && !c.entry.now.partial {
			now := c.entry.now
			o.Body, o.spec, o.status, o.specSum = now.Body, now.spec, now.status, now.specSum
		}
		if len(o.Finalizers) > 0 || c.kind == "Pod" { // a pod that runs is given its time to end
			after := *o
			now := metav1.NewTime(e.at)
			after.DeletionTimestamp = &now
			c.after = &after
		}
		if !o.deleting() {
			all = append(all, c)
		}
	}
	return all
}

// scaled works out a write to the scale of an object, which is answered with a Scale.
func (a *Auditor) scaled(e *event, who *Actor) []*change {
	n := a.store.at(e.place)
	if e.after == nil || !a.store.current(n) || n.now.UID != e.after.UID {
		a.leave(whyUnknown, e)
		return nil
	}
	after := *n.now
	after.ResourceVersion = e.after.ResourceVersion
	after.rescale(e.after)
	return []*change{{event: e, who: who, before: n.now, after: &after, entry: n, kind: n.kind}}
}
