package fakeapi

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/fieldmanager"
	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// manages reports whether the server maintains the managedFields of a stored object.
func (s *Server) manages(m metav1.Object) bool {
	return s.opts.ManagedFields || len(m.GetManagedFields()) > 0
}

// manage records the changes from live to obj in managedFields, under the name manager, if the server manages obj.
func (c *call) manage(live, obj runtime.Object, manager string) runtime.Object {
	if live == nil && !c.s.opts.ManagedFields || live != nil && !c.s.manages(metadata.Of(live)) {
		return obj
	}
	if live == nil {
		live = c.k.row.Empty()
	}
	sent := metadata.Of(obj).GetManagedFields()
	obj = c.s.manager(c.k, c.req.Subresource).UpdateNoErrors(live, obj, fieldmanager.Name(manager, c.req.UserAgent))
	c.keepTimes(metadata.Of(obj), metadata.Of(live).GetManagedFields(), sent)
	return obj
}

// keepTimes sorts managedFields. An entry that is not in known gets the time of the request, in place of the wall-clock
// time that the field manager has set.
func (c *call) keepTimes(m metav1.Object, known ...[]metav1.ManagedFieldsEntry) {
	entries := append([]metav1.ManagedFieldsEntry(nil), m.GetManagedFields()...)
	for i := range entries {
		e := &entries[i]
		if e.Time == nil {
			continue // an apply that changes nothing leaves the entry without a time
		}
		is := func(o metav1.ManagedFieldsEntry) bool {
			return byManager(&o, e) == 0 && o.Operation == e.Operation && o.Time.Equal(e.Time)
		}
		if !slices.ContainsFunc(known, func(k []metav1.ManagedFieldsEntry) bool { return slices.ContainsFunc(k, is) }) {
			now := metadata.Seconds(c.now)
			e.Time = &now
		}
	}
	slices.SortFunc(entries, func(a, b metav1.ManagedFieldsEntry) int {
		return cmp.Or(strings.Compare(string(a.Operation), string(b.Operation)),
			cmp.Compare(unix(a.Time), unix(b.Time)), byManager(&a, &b))
	})
	m.SetManagedFields(entries)
}

func byManager(a, b *metav1.ManagedFieldsEntry) int {
	return cmp.Or(strings.Compare(a.Manager, b.Manager), strings.Compare(a.APIVersion, b.APIVersion),
		strings.Compare(a.Subresource, b.Subresource))
}

func unix(t *metav1.Time) int64 {
	if t == nil {
		return 0
	}
	return t.Unix()
}

// keepStamps restores the stored times in managedFields if obj differs from the stored object only in these times, like
// IgnoreManagedFieldsTimestampsTransformer of the real server.
func keepStamps(obj runtime.Object, m metav1.Object, old *entry) {
	now, was := m.GetManagedFields(), old.meta.GetManagedFields()
	moved := false
	if !slices.EqualFunc(now, was, func(a, b metav1.ManagedFieldsEntry) bool {
		moved = moved || !a.Time.Equal(b.Time)
		a.Time = b.Time
		return reflect.DeepEqual(a, b)
	}) || !moved {
		return
	}
	m.SetManagedFields(was)
	if !equality.Semantic.DeepEqual(obj, old.obj) {
		m.SetManagedFields(now)
	}
}
