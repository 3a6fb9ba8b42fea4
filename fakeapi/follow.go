package fakeapi

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/crd"
)

// follow makes the changes that follow from a write, such as the conditions of a CRD.
func (c *call) follow() {
	switch {
	case c.k == definitionKind:
		c.followDefinition()
	case c.k.custom != nil:
		c.followCustom()
	case c.s.opts.Start.ServiceAccounts && (c.k == namespaceKind || c.k == accountKind):
		c.followAccounts()
	}
}

// followDefinition does the work of the real server's CRD controllers after a write to a CRD, before the response. Each
// step is a separate write with a separate event.
func (c *call) followDefinition() {
	own := c.serverCall(definitionKind, "status")
	for _, ev := range c.events {
		obj := ev.After
		if obj == nil {
			obj = ev.Last
		}
		own.settleGroup(obj.(*crd.Definition).Spec.Group)
	}
	own.s.syncKinds()
	c.events = append(c.events[:len(c.events):len(c.events)], own.events...)
}

// settleGroup processes the CRDs of a group until no CRD changes. It repeats, because a CRD may wait for a name that
// another CRD releases.
func (c *call) settleGroup(group string) {
	for again := true; again; {
		again = false
		for _, name := range c.definitionsOf(group) {
			e := c.s.find(c.s.tables[definitionKind.ordinal], name)
			if e == nil {
				continue
			}
			if next := crd.AcceptNames(e.obj.(*crd.Definition), c.s.namesTaken(group), c.now); next != nil {
				e, again = c.writeDefinition(e, next), true
			}
			if next := crd.Approve(e.obj.(*crd.Definition), c.now); next != nil {
				e, again = c.writeDefinition(e, next), true
			}
			if next := crd.Establish(e.obj.(*crd.Definition), c.now); next != nil {
				e, again = c.writeDefinition(e, next), true
			}
			if c.finalize(e) {
				again = true
			}
		}
	}
}

func (c *call) definitionsOf(group string) (names []string) {
	c.s.tables[definitionKind.ordinal].each("", func(e *entry) bool {
		if e.obj.(*crd.Definition).Spec.Group == group {
			names = append(names, e.key)
		}
		return true
	})
	return names
}

func (s *Server) namesTaken(group string) (t crd.Taken) {
	s.tables[definitionKind.ordinal].each("", func(e *entry) bool {
		if d := e.obj.(*crd.Definition); d.Spec.Group == group {
			t.Take(&d.Status.AcceptedNames)
		}
		return true
	})
	return t
}

func (c *call) writeDefinition(old *entry, d *crd.Definition) *entry {
	if c.s.opts.ManagedFields {
		d = c.manage(old.obj, d, "").(*crd.Definition)
	}
	return c.commit(c.s.writable(definitionKind), old, old.key, d, d)
}

// finalize deletes the objects of a terminating CRD. When none is left, it removes the server's finalizer from the CRD.
// It reports whether it changed anything.
func (c *call) finalize(e *entry) bool {
	d := e.obj.(*crd.Definition)
	if d.DeletionTimestamp == nil || !slices.Contains(d.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer) {
		return false
	}
	changed := false
	if !crd.DeletionBegun(d) {
		next := d.DeepCopy()
		crd.SetCondition(next, c.now, apiextensionsv1.Terminating, apiextensionsv1.ConditionTrue,
			"InstanceDeletionInProgress", "CustomResource deletion is in progress")
		e, changed = c.writeDefinition(e, next), true
		c.s.syncKinds()
		c.deleteObjects(d)
	}
	reason, message := "InstanceDeletionCompleted", "removed all instances"
	if !crd.Established(d) {
		reason, message = "NeverEstablished", "resource was never established"
	} else if t := c.s.tableOf(d); t != nil && t.objects.Len() > 0 {
		return changed
	}
	next := e.obj.(*crd.Definition).DeepCopy()
	crd.SetCondition(next, c.now, apiextensionsv1.Terminating, apiextensionsv1.ConditionFalse, reason, message)
	next.Finalizers = slices.DeleteFunc(next.Finalizers, func(f string) bool {
		return f == apiextensionsv1.CustomResourceCleanupFinalizer
	})
	if len(next.Finalizers) == 0 {
		c.drop(c.s.writable(definitionKind), e)
	} else {
		c.writeDefinition(e, next)
	}
	return true
}

func (c *call) deleteObjects(d *crd.Definition) {
	t := c.s.tableOf(d)
	if t == nil || !crd.Established(d) {
		return
	}
	own := c.serverCall(t.kind, "")
	own.req.Verb = DeleteCollection
	var all []*entry
	t.each("", func(e *entry) bool {
		all = append(all, e)
		return true
	})
	for _, e := range all {
		if err := own.remove(e, metav1.DeleteOptions{}); err != nil {
			panic("fakeapi: " + e.key + " of " + d.Name + " is not deleted with its definition: " + err.Error())
		}
	}
	c.events = append(c.events, own.events...)
}

// followCustom completes the deletion of a terminating CRD after its last object has been deleted.
func (c *call) followCustom() {
	if !c.k.custom.Terminating || c.s.tables[c.k.ordinal].objects.Len() > 0 {
		return
	}
	own := c.serverCall(definitionKind, "status")
	own.settleGroup(c.k.GVK.Group)
	own.s.syncKinds()
	c.events = append(c.events[:len(c.events):len(c.events)], own.events...)
}
