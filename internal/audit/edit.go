package audit

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// edit is what a write changed.
type edit struct {
	owner      bool // which controller it has
	refs       bool // its other owners
	labels     bool
	finalizers bool
	spec       bool // what is neither metadata nor status
	status     bool
	deletes    bool // it is being deleted from here on, or gone
}

// compare says what a change to an object that was there is.
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
