package fakeapi

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/fieldmanager"
	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// manages reports whether it is noted who changes what of a stored object.
func (s *Server) manages(m metav1.Object) bool {
	return s.opts.ManagedFields || len(m.GetManagedFields()) > 0
}

// manage notes in managedFields who changed what.
func (c *call) manage(live, obj runtime.Object, manager string) runtime.Object {
	if live == nil && !c.s.opts.ManagedFields || live != nil && !c.s.manages(metadata.Of(live)) {
		return obj
	}
	if live == nil {
		live = c.k.row.Empty()
	}
	obj = c.k.manager(c.req.Subresource).UpdateNoErrors(live, obj, fieldmanager.Name(manager, c.req.UserAgent))
	c.keepTimes(metadata.Of(obj), metadata.Of(live).GetManagedFields())
	return obj
}

// keepTimes gives entries of managedFields that did not change their old
// time, and the others the time of the request.
func (c *call) keepTimes(m metav1.Object, old []metav1.ManagedFieldsEntry) {
	entries := append([]metav1.ManagedFieldsEntry(nil), m.GetManagedFields()...)
	for i := range entries {
		now := metadata.Seconds(c.now)
		entries[i].Time = &now
		for j := range old {
			o := &old[j]
			if o.Manager == entries[i].Manager && o.Operation == entries[i].Operation &&
				o.APIVersion == entries[i].APIVersion &&
				o.Subresource == entries[i].Subresource && reflect.DeepEqual(o.FieldsV1, entries[i].FieldsV1) {
				entries[i].Time = o.Time
			}
		}
	}
	m.SetManagedFields(entries)
}
