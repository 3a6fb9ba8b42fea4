package audit

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// edit describes what a write changed.
type edit struct {
	owner      bool // the controller
	refs       bool // the other owners
	labels     bool
	finalizers bool
	spec       bool // anything but metadata and status
	status     bool
	deletes    bool // it is now terminating, or gone
}

// compare classifies a change to an existing object.
func (c *change) compare() (d edit) {
	b, n := c.before, c.after
	if b == nil {
		return d
	}
	d.deletes = !b.deleting() && (n == nil || n.deleting())
	if n == nil {
		return d
	}
	was, is := b.controller(), n.controller()
	d.owner = (was == nil) != (is == nil) || was != nil && was.UID != is.UID
	d.refs = !d.owner && !slices.EqualFunc(b.OwnerReferences, n.OwnerReferences,
		func(x, y metav1.OwnerReference) bool { return x.UID == y.UID })
	d.labels = !sameMap(b.Labels, n.Labels)
	d.finalizers = !slices.Equal(b.Finalizers, n.Finalizers)
	d.spec = b.specSum != n.specSum && b.apiVersion == n.apiVersion
	d.status = !d.spec && b.Body != n.Body && b.apiVersion == n.apiVersion
	return d
}

func sameMap(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || v != w {
			return false
		}
	}
	return true
}

// tends reports whether an actor is responsible for objects of a kind, whoever owns them: it writes their status, or
// creates dependents for them.
func (w *Actor) tends(kind string) bool {
	return kind != "" && (w.makes(kind) || slices.Contains(w.reports, kind))
}

// tended records the kinds that a program is responsible for. It skips kinds of known controllers: others write
// conditions into the status of a pod.
func (a *Auditor) tended(c *change) {
	kind := schema.GroupKind{Group: c.place.group, Kind: c.kind}
	is := func(gvk schema.GroupVersionKind) bool { return gvk.GroupKind() == kind }
	if c.who.Sort != Program || c.before == nil || c.after == nil || slices.ContainsFunc(a.Controllers,
		func(k Controller) bool { return is(k.For) || slices.ContainsFunc(k.Owns, is) }) {
		return
	}
	switch {
	case c.sub == "status":
		if !c.who.tends(kind.String()) {
			c.who.reports = append(c.who.reports, kind.String())
		}
	case !c.says.owner && !c.says.deletes:
		c.edited = kind.String()
	}
}
