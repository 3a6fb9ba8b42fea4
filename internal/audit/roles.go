package audit

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

// role selects the rules for a write. The judge has rules for each process. One actor can be several processes, such as
// "NAME" and "NAME elsewhere". owner is the object that the actor reconciles, if known.
type role struct {
	process string
	owner   sim.Ref
}

const (
	exempt    = "(the log)"  // the process of writes to which no rule applies
	noKind    = "(none)"     // the kind that an actor reconciles, if it is not known
	unrelated = " elsewhere" // suffix of an actor's name for objects that the actor has no right to write
)

// roleOf returns the role of a change's actor, and adds the actor to the judge.
func (a *Auditor) roleOf(c *change) role {
	switch {
	case c.met:
		return role{process: exempt}
	case c.who.Sort == Human:
		return role{process: c.who.Name}
	case c.who.Sort == Known:
		a.introduce(c.who.known.Actor)
		return role{process: c.who.known.Process}
	case c.who.Sort == Office:
		s := law.Actor{Process: c.who.Name, Controller: c.who.Name}
		if c.who.Name == systemAccount+collectorAccount {
			s.Controller = "garbagecollector"
		}
		a.introduce(s)
		return role{process: c.who.Name}
	case c.before == nil:
		return a.roleOfCreate(c)
	}
	return a.roleOfUpdate(c)
}

func (a *Auditor) roleOfCreate(c *change) role {
	if ref := c.after.controller(); ref != nil {
		if a.controllerOf(ref) == nil {
			c.who.learn(groupKind(ref))
		}
		return a.makerFor(c, ref)
	}
	if refs := c.after.OwnerReferences; len(refs) > 0 && a.claimable(c.kind) {
		return a.makerFor(c, &refs[0])
	}
	return a.atHome(c)
}

func (a *Auditor) roleOfUpdate(c *change) role {
	was, is := c.before.controller(), c.after.controller()
	switch {
	case was == nil && is != nil:
		if a.controllerOf(is) == nil {
			c.who.learn(groupKind(is))
		}
		return a.atHome(c)
	case was == nil:
		return a.atHome(c)
	}
	taken := is != nil && is.UID != was.UID
	if taken && !c.who.makes(groupKind(was)) {
		if a.controllerOf(is) == nil {
			c.who.learn(groupKind(is))
		}
		return a.makerFor(c, is)
	}
	if c.family = a.inFamily(c, was); c.family || a.allowed(c, was) || c.who.responsible(c.edited) {
		return a.atHome(c)
	}
	if !a.anothers(c, was) {
		a.leave(whyOwner, c.event)
		return a.atHome(c)
	}
	s := law.Actor{Process: c.who.Name + unrelated, Controller: c.who.Name, For: schema.GroupVersionKind{Kind: noKind}}
	a.introduce(s)
	return role{process: s.Process}
}

const whyOwner = "writes of programs to objects whose owner, or whose owner's controller, is not in the log"

// makerFor returns the role of a program that acts as the controller of the owner in ref.
func (a *Auditor) makerFor(c *change, ref *metav1.OwnerReference) role {
	s := law.Actor{Process: c.who.Name + " for " + groupKind(ref), Controller: c.who.Name, For: schema.GroupVersionKind{Kind: ref.Kind}}
	s.Owns = a.made[s.Process]
	if kind := (schema.GroupVersionKind{Kind: c.kind}); !slices.Contains(s.Owns, kind) {
		s.Owns = append(s.Owns, kind)
		a.made[s.Process] = s.Owns
		delete(a.introduced, s.Process)
	}
	a.introduce(s)
	owner := sim.Ref{Kind: ref.Kind, Namespace: c.place.namespace, Name: ref.Name, UID: string(ref.UID)}
	if o := a.judge.State().Object(ref.UID); o != nil {
		owner = o.Ref
	}
	return role{process: s.Process, owner: owner}
}

// atHome returns a role in which no law of ownership forbids the write.
func (a *Auditor) atHome(c *change) role {
	a.introduce(law.Actor{Process: c.who.Name, Controller: c.who.Name})
	return role{process: c.who.Name}
}

func (a *Auditor) introduce(s law.Actor) {
	if !a.introduced[s.Process] {
		a.introduced[s.Process] = true
		a.judge.AddActor(s)
	}
}

// inFamily reports whether an object belongs to the actor, directly or through its owners. This is so if the actor has
// created the object or one of its owners, has written the object's owner references, or creates dependents for the
// kind of one of the owners.
func (a *Auditor) inFamily(c *change, ref *metav1.OwnerReference) bool {
	if c.entry != nil && c.entry.maker == c.who {
		return true
	}
	for _, m := range [][]string{c.before.managers, afterManagers(c)} {
		if slices.Contains(m, c.who.manager) {
			if a.controllerOf(ref) == nil {
				c.who.learn(groupKind(ref)) // the actor wrote the owner reference
			}
			return true
		}
	}
	for range 8 { // owners may form a cycle, so the length of the chain is limited
		if c.who.makes(groupKind(ref)) {
			return true
		}
		o, _ := a.object(ref.UID)
		if o == nil {
			return false
		}
		if n := a.owners[ref.UID]; n != nil && n.maker == c.who {
			return true
		}
		if ref = o.controller(); ref == nil {
			return false
		}
	}
	return false
}

func afterManagers(c *change) []string {
	if c.after == nil {
		return nil
	}
	return c.after.managers
}

func (a *Auditor) object(uid types.UID) (*Object, sim.Ref) {
	if o := a.judge.State().Object(uid); o != nil {
		v, _ := o.Value.(*Object)
		return v, o.Ref
	}
	return nil, sim.Ref{}
}

// forOthers lists subresources that clients other than the owner's controller may write.
var forOthers = map[string]bool{"status": true, "ephemeralcontainers": true, "resize": true, "approval": true,
	"finalize": true}

// allowed reports whether any client may make this write to an object of another controller. Writes to the subresources
// in forOthers are allowed. So are changes of annotations, finalizers, other owner references, and labels that no
// selector uses. A repeated deletion of a terminating object is allowed too. If the old contents are unknown, a request
// with only metadata and status is allowed.
func (a *Auditor) allowed(c *change, owner *metav1.OwnerReference) bool {
	if forOthers[c.sub] {
		return true
	}
	if c.verb == "delete" || c.verb == "deletecollection" {
		return c.before.deleting()
	}
	d := c.says
	if c.assumed {
		return !c.asked.body
	}
	if d.owner || d.deletes || d.spec {
		return false
	}
	return !d.labels || !a.unselects(c, owner)
}

// unselects reports whether a change of labels begins or ends a match of the owner's selector; false if unknown.
func (a *Auditor) unselects(c *change, owner *metav1.OwnerReference) bool {
	known := a.controllerOf(owner)
	o, _ := a.object(owner.UID)
	if known == nil || o == nil {
		return false
	}
	if known.Selector == nil {
		return false
	}
	sel := known.Selector(o)
	return sel != nil && sel.Matches(labels.Set(c.before.Labels)) != sel.Matches(labels.Set(c.after.Labels))
}

// anothers reports whether the log shows that an object belongs to another actor. The log must contain the object, its
// owner, the owner's owner and so on, and show an actor that controls the owner's kind or wrote the owner reference.
func (a *Auditor) anothers(c *change, owner *metav1.OwnerReference) bool {
	ref := owner
	for range 8 {
		o, _ := a.object(ref.UID)
		if o == nil {
			return false
		}
		up := o.controller()
		if up == nil {
			break
		}
		ref = up
	}
	return a.controllerOf(owner) != nil || a.controls(groupKind(owner), c.who) || len(c.before.managers) > 0
}

func (a *Auditor) controls(kind string, but *Actor) bool {
	for _, who := range a.actors.byName {
		if who != but && who.makes(kind) {
			return true
		}
	}
	return false
}

// settled is the time after which every writer is expected to know that an object has a new controller.
const settled = time.Minute

// saw returns the version before the write if the actor certainly knew the object's controller, otherwise nil. The
// actor knew it if the request has a resource version, if the controller never changed or was set at least a minute
// ago, or if the actor has read the object since the controller was set.
func (a *Auditor) saw(c *change) any {
	if c.before == nil || c.who.Sort == Human || c.who.Sort == Office {
		return nil
	}
	n := c.entry
	switch {
	case c.asked.version != "":
	case n == nil || n.now == nil || n.since.IsZero():
		return nil
	case !n.constant && !c.who.reads.since(c.place, n.since) && c.at.Sub(n.since) < settled:
		return nil
	}
	return c.before
}
