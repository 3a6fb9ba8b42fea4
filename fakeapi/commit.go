package fakeapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/same"
)

// unchanged reports whether an update need not be stored, because obj equals the stored object. If onlyMeta is set,
// only metadata can differ. If status is set, the spec cannot differ. An object that was stored without defaults, or in
// another version, is stored again. size is the length of obj's encoding, or 0 if unchanged did not need it.
func unchanged(onlyMeta, status bool, obj runtime.Object, old *entry, m metav1.Object) (yes bool, size int) {
	switch {
	case old.stale != nil || !metadata.Same(m, old.meta):
		return false, 0
	case onlyMeta:
		return true, 0
	}
	if pod, is := obj.(*corev1.Pod); is && status { // the most frequent write of a simulation
		return same.Encoding(&pod.Status, &old.obj.(*corev1.Pod).Status), 0
	}
	return same.Object(obj, old.obj)
}

// commit stores obj under a new revision. obj must not be changed afterwards.
func (c *call) commit(t *table, before *entry, key string, obj runtime.Object, m metav1.Object) *entry {
	if c.s.opts.DropControllerRefs {
		metadata.DropControllers(m)
	}
	c.s.version++
	m.SetResourceVersion(strconv.FormatUint(c.s.version, 10))
	after := &entry{key: key, obj: obj, meta: m, rv: c.s.version}
	if c.k.stored != nil {
		after.obj, after.stale = c.stored(obj, m.GetResourceVersion())
		after.meta = metadata.Of(after.obj)
		if before != nil {
			before = c.s.find(t, key)
		}
	}
	c.tell(t.put(before, after))
	return after
}

func (c *call) tell(ch *change) {
	if c.events == nil {
		c.events = ch.ev[:1:1]
		return
	}
	c.events = append(c.events, ch.ev[0])
}

// drop removes an object. It returns the object's last state with the revision of the removal, as watchers receive it.
func (c *call) drop(t *table, e *entry) runtime.Object {
	c.s.version++
	if c.k.stored != nil {
		e = c.s.find(t, e.key)
	}
	last := t.kind.row.Shallow(e.obj)
	metadata.Of(last).SetResourceVersion(strconv.FormatUint(c.s.version, 10))
	c.tell(t.remove(e, c.s.version, last))
	return last
}

// rehearse sets what a dry run would store, because the response is read from it: in another version than the storage
// version, fields that the storage version does not have are missing.
func (c *call) rehearse(w *draft) {
	if c.k.stored != nil {
		c.stored(w.obj, w.m.GetResourceVersion())
	}
}

// stored returns obj in the storage version, with defaults. If it adds defaults, differs holds obj without them.
func (c *call) stored(obj runtime.Object, version string) (_ runtime.Object, differs *stale) {
	if !c.k.asks() {
		c.draft.kept = c.k.row.View.Keep(obj)
	}
	if c.k.custom != nil {
		raw := c.draft.kept
		if c.draft.kept = c.k.stored.custom.Defaulted(raw); c.draft.kept != raw {
			differs = &stale{raw: raw}
		}
	}
	m := metadata.Of(c.draft.kept)
	if c.s.opts.DropControllerRefs {
		metadata.DropControllers(m)
	}
	m.SetResourceVersion(version)
	return c.draft.kept, differs
}

func (c *call) keep(obj runtime.Object) (err error) {
	if c.k.asks() {
		c.draft.kept, err = c.s.convert(c.k, obj, true)
	}
	return err
}

// maxObject is etcd's default limit for one request, in bytes.
const maxObject = 3 << 19

var errTooLargeObject = errors.New("etcdserver: request is too large")

// limit returns an error if the encoding of an object exceeds maxObject: protobuf for built-in kinds, JSON for others. It
// returns an upper bound of the length of a protobuf encoding. If size is not 0, it is such a bound. With
// Options.Unlimited there is no limit.
func (s *Server) limit(obj runtime.Object, size int) (int, error) {
	if s.opts.Unlimited {
		return 0, nil
	}
	switch o := obj.(type) {
	case interface{ Size() int }:
		if size == 0 || size > maxObject {
			size = o.Size()
		}
		if size > maxObject {
			return 0, errTooLargeObject
		}
		return size, nil
	case *unstructured.Unstructured:
		if bulk(o.Object) < maxObject/6 { // not too large: JSON needs at most six bytes for a character
			return 0, nil
		}
		if raw, err := json.Marshal(o.Object); err != nil || len(raw) > maxObject {
			return 0, cmp.Or(err, errTooLargeObject)
		}
	}
	return 0, nil
}

// bound returns an upper bound of the length of the new object's protobuf encoding, or 0 if it is unknown. It is the
// bound of the old object, plus the length of the parts that the update may have changed.
func (w *draft) bound(status bool) int {
	m, typed := w.m.(*metav1.ObjectMeta)
	if !typed || w.old.bound == 0 {
		return 0
	}
	const tags = 32 // for the tags and lengths of the metadata and the status
	if w.onlyMeta {
		return w.old.bound + m.Size() + tags
	}
	if pod, is := w.obj.(*corev1.Pod); is && status {
		return w.old.bound + m.Size() + pod.Status.Size() + tags
	}
	return 0
}

// bulk estimates the size of a JSON value in bytes, without encoding it.
func bulk(value any) int {
	n := 8
	switch v := value.(type) {
	case string:
		n += len(v)
	case map[string]any:
		for key, item := range v { //detcheck:ordered a sum has no order
			n += len(key) + bulk(item)
		}
	case []any:
		for _, item := range v {
			n += bulk(item)
		}
	}
	return n
}
