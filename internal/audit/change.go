package audit

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

type change struct {
	*event
	who           *Actor
	entry         *entry // the object's entry in the store; nil if unknown
	kind          string
	before, after *Object // nil if the object does not exist before or after the write

	met     bool // the object's state before the write is unknown, so the write is not judged
	assumed bool // before was derived from the response: it has the old owners, but not the old spec and status
	family  bool // the object belongs to the actor, directly or through its owners
	says    edit
	edited  string // "Kind.group" of an object that a program edited; "" for kinds of known controllers
	index   int    // index of this change's record
}

// wholes lists the subresources whose responses contain the object itself.
var wholes = map[string]bool{"": true, "status": true, "finalize": true, "ephemeralcontainers": true, "resize": true,
	"approval": true}

// The reasons why writes are not judged.
const (
	whyBodies  = "writes without their result in the log: the level is below RequestResponse, or the entry is cut off"
	whyLate    = "writes logged long after later ones: give each apiserver's log as a file of its own"
	whyUnknown = "writes to objects whose previous state is not in the log"
	whyKind    = "writes to objects whose kind is not in the log"
)

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
		return nil // for example a binding or an eviction: the response does not contain the object
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

// lost handles a write without a body in the log: the known state of the object may now be outdated.
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
			return nil // nothing changed, or the event is late or a duplicate
		}
		c.before = known.now
	}
	c.fill()
	return c
}

// fill derives the object as it was before an update or a patch.
func (c *change) fill() {
	// A patch changes only the fields that it contains, and a status write only the status.
	partly := c.verb == "patch" || c.sub == "status"
	if b, named := c.before, c.asked.version; b != nil && !partly && named != "" && b.ResourceVersion != "" &&
		named != b.ResourceVersion {
		c.before = nil // the log lacks a write between before and this one
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

// unspoken returns the object as it was before a write that sets only some fields, such as a patch. It takes the other
// fields from the version after the write.
func (c *change) unspoken() *Object {
	b, n, put := *c.before, c.after, c.verb != "patch"
	if put || !c.asked.owners {
		b.OwnerReferences = n.OwnerReferences
	}
	if is := n.controller(); c.who.Sort == Known && c.asked.text != "" && is != nil && !sameController(c.before, n) {
		// A patch that adopts removes only owner references whose UIDs it contains. Other missing references were
		// removed by an earlier write.
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
		b.DeletionTimestamp = n.DeletionTimestamp // set by an eviction: its response does not contain the object
	}
	return &b
}

// complete copies spec and status from the previous version if the response contains only metadata.
func (c *change) complete() {
	if c.after.partial {
		o := *c.after
		o.apiVersion, o.kind, o.partial = c.before.apiVersion, c.before.kind, c.before.partial
		o.spec, o.status, o.specSum, o.Body = c.before.spec, c.before.status, c.before.specSum, c.before.Body
		c.after = &o
	}
}

// deleted derives the change of a deletion. The response is the object with its deletion timestamp. If the object no
// longer exists, the response is a Status.
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
		b.Finalizers = nil // the object had no finalizers, because it was removed at once
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

// collected derives the changes of a deletecollection request. The response lists the objects.
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
		if len(o.Finalizers) > 0 || c.kind == "Pod" { // a running pod has a grace period
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

// scaled derives the change of a write to the scale subresource. The response is a Scale.
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

// edit says which parts of the object a write changed.
type edit struct {
	owner      bool // the write changed the ControllerRef
	refs       bool // the write changed owner references, but not the ControllerRef
	labels     bool
	finalizers bool
	spec       bool // the write changed anything except metadata and status
	status     bool
	deletes    bool // the object is terminating after the write, or no longer exists
}

func (c *change) compare() (d edit) {
	b, n := c.before, c.after
	if b == nil {
		return d
	}
	d.deletes = !b.deleting() && (n == nil || n.deleting())
	if n == nil {
		return d
	}
	d.owner = !sameController(b, n)
	d.refs = !d.owner && !slices.EqualFunc(b.OwnerReferences, n.OwnerReferences,
		func(x, y metav1.OwnerReference) bool { return x.UID == y.UID })
	d.labels = !maps.Equal(b.Labels, n.Labels)
	d.finalizers = !slices.Equal(b.Finalizers, n.Finalizers)
	d.spec = b.specSum != n.specSum && b.apiVersion == n.apiVersion
	d.status = !d.spec && b.Body != n.Body && b.apiVersion == n.apiVersion
	return d
}

// responsible reports whether an actor writes the status of a kind's objects, or creates dependents for them.
func (w *Actor) responsible(kind string) bool {
	return kind != "" && (w.makes(kind) || slices.Contains(w.reports, kind))
}

// learnKinds records the kinds that a program is responsible for. It skips the kinds of known controllers, because
// other programs also write their status: for example conditions of pods.
func (a *Auditor) learnKinds(c *change) {
	kind := schema.GroupKind{Group: c.place.group, Kind: c.kind}
	is := func(gvk schema.GroupVersionKind) bool { return gvk.GroupKind() == kind }
	if c.who.Sort != Program || c.before == nil || c.after == nil || slices.ContainsFunc(a.Controllers,
		func(k Controller) bool { return is(k.For) || slices.ContainsFunc(k.Owns, is) }) {
		return
	}
	switch {
	case c.sub == "status":
		if !c.who.responsible(kind.String()) {
			c.who.reports = append(c.who.reports, kind.String())
		}
	case !c.says.owner && !c.says.deletes:
		c.edited = kind.String()
	}
}
