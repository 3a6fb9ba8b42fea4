package fakeapi

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/google/btree"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

const degree = 32

// entry is a stored object at one revision. It is never changed.
type entry struct {
	key  string // namespace/name, or name for cluster-scoped objects
	obj  runtime.Object
	meta metav1.Object
	rv   uint64
	// stale is set if obj differs from what was stored, for example after a change of the CRD. An update stores obj.
	stale *stale
	// bound is at least the length of obj's protobuf encoding; 0 if it is unknown.
	bound int
}

type stale struct {
	raw  runtime.Object // what was stored; nil if obj itself was stored
	as   runtime.Object // the object in the version in which a client wrote it; nil if that is the storage version
	away bool           // without a webhook call, the object cannot be read in the storage version
}

// defaulted marks an object that the real server stores without some defaults. It sets them when it reads the object.
var defaulted = &stale{}

// link is an entry of the owner index: the object with this key has an owner with this UID.
type link struct {
	owner types.UID
	key   string
}

// mark is an entry of the label index: the object with this key has this label and value.
type mark struct {
	label, value, key string
}

type change struct {
	ev   [1]Event
	prev *change
}

// table contains the stored objects of one kind. Only the server with the token in owner may change the table. Another
// server copies the table first.
type table struct {
	kind   *Kind
	owner  *token
	copies sync.Mutex // held by copyFor, which a server and its forks may call at the same time

	objects *btree.BTreeG[*entry]
	owners  *btree.BTreeG[link]
	marks   *btree.BTreeG[mark]
	past    *btree.BTreeG[tally] // for each key: the number of deleted objects
	made    *btree.BTreeG[tally] // for each namespace and prefix: the number of generated names
	most    floors               // the highest counts that ForgetNames has dropped from past and made

	away    bool     // some entry has stale.away set
	foreign bool     // some entry may have stale.as set
	renewed []uint64 // the revisions of the CRD's changes; each ends older watches

	log       *change
	compacted uint64 // changes up to this revision were dropped
}

type store struct {
	tables  []*table // by Kind.ordinal
	token   *token
	version uint64
	pivot   entry  // reused as the key of look-ups, to avoid allocations
	text    []byte // reused for the keys of look-ups
}

// token identifies a server: the server may change the tables that have its token.
type token struct{ _ byte }

func newTable(k *Kind, owner *token) *table {
	return &table{
		kind: k, owner: owner,
		objects: btree.NewG(degree, func(a, b *entry) bool { return a.key < b.key }),
		owners: btree.NewG(degree, func(a, b link) bool {
			if a.owner != b.owner {
				return a.owner < b.owner
			}
			return a.key < b.key
		}),
		marks: btree.NewG(degree, func(a, b mark) bool {
			if a.value != b.value {
				return a.value < b.value
			}
			if a.label != b.label {
				return a.label < b.label
			}
			return a.key < b.key
		}),
		past: btree.NewG(degree, func(a, b tally) bool { return a.key < b.key }),
		made: btree.NewG(degree, func(a, b tally) bool { return a.key < b.key }),
	}
}

// copyFor returns a copy of a table for the server that has the token owner.
func (t *table) copyFor(owner *token) *table {
	t.copies.Lock()
	defer t.copies.Unlock()
	return &table{
		kind: t.kind, owner: owner,
		objects: t.objects.Clone(), owners: t.owners.Clone(), marks: t.marks.Clone(),
		past: t.past.Clone(), made: t.made.Clone(), most: t.most, away: t.away, foreign: t.foreign,
		renewed: slices.Clip(t.renewed),
		log:     t.log, compacted: t.compacted,
	}
}

func (s *store) writable(k *Kind) *table {
	t := s.tables[k.ordinal]
	if t.owner != s.token {
		t = t.copyFor(s.token)
		s.tables[k.ordinal] = t
	}
	return t
}

// find returns the entry with a key, or nil. It reuses s.pivot to avoid an allocation.
func (s *store) find(t *table, key string) *entry {
	s.pivot.key = key
	e, _ := t.objects.Get(&s.pivot)
	return e
}

// lookup returns the entry with a namespace and name, or nil. It reuses s.text for the key.
func (s *store) lookup(t *table, namespace, name string) *entry {
	if !t.kind.Namespaced {
		return s.find(t, name)
	}
	s.text = append(append(append(s.text[:0], namespace...), '/'), name...)
	return s.find(t, unsafe.String(&s.text[0], len(s.text)))
}

// put stores an object and records the change. before is nil for a new object.
func (t *table) put(before, after *entry) *change {
	t.objects.ReplaceOrInsert(after)
	if before == nil {
		t.index(after)
		return t.record(Event{Kind: t.kind, Key: after.key, Version: after.rv, After: after.obj})
	}
	t.reindex(before, after)
	return t.record(Event{Kind: t.kind, Key: after.key, Version: after.rv, Before: before.obj, After: after.obj})
}

// remove removes an object and records the change. last is the object with the revision of the removal.
func (t *table) remove(before *entry, rv uint64, last runtime.Object) *change {
	t.objects.Delete(before)
	t.unindex(before)
	t.past.ReplaceOrInsert(tally{key: before.key, n: t.gone(before.key) + 1, at: rv})
	return t.record(Event{Kind: t.kind, Key: before.key, Version: rv, Before: before.obj, Last: last})
}

func (t *table) record(ev Event) *change {
	t.log = &change{ev: [1]Event{ev}, prev: t.log}
	return t.log
}

func (t *table) index(e *entry) {
	for _, ref := range e.meta.GetOwnerReferences() {
		t.owners.ReplaceOrInsert(link{ref.UID, e.key})
	}
	for label, value := range e.meta.GetLabels() { //detcheck:ordered the tree is sorted
		t.marks.ReplaceOrInsert(mark{label, value, e.key})
	}
}

func (t *table) unindex(e *entry) {
	for _, ref := range e.meta.GetOwnerReferences() {
		t.owners.Delete(link{ref.UID, e.key})
	}
	for label, value := range e.meta.GetLabels() { //detcheck:ordered the tree is sorted
		t.marks.Delete(mark{label, value, e.key})
	}
}

func (t *table) reindex(before, after *entry) {
	if !sameOwners(before.meta.GetOwnerReferences(), after.meta.GetOwnerReferences()) {
		for _, ref := range before.meta.GetOwnerReferences() {
			t.owners.Delete(link{ref.UID, before.key})
		}
		for _, ref := range after.meta.GetOwnerReferences() {
			t.owners.ReplaceOrInsert(link{ref.UID, after.key})
		}
	}
	old, now := before.meta.GetLabels(), after.meta.GetLabels()
	for label, value := range old { //detcheck:ordered the tree is sorted
		if v, ok := now[label]; !ok || v != value {
			t.marks.Delete(mark{label, value, before.key})
		}
	}
	for label, value := range now { //detcheck:ordered the tree is sorted
		if v, ok := old[label]; !ok || v != value {
			t.marks.ReplaceOrInsert(mark{label, value, after.key})
		}
	}
}

func sameOwners(a, b []metav1.OwnerReference) bool {
	return slices.EqualFunc(a, b, func(a, b metav1.OwnerReference) bool { return a.UID == b.UID })
}

// each calls f for the objects in a namespace ("" for all) in key order, until f returns false.
func (t *table) each(namespace string, f func(*entry) bool) {
	if namespace == "" || !t.kind.Namespaced {
		t.objects.Ascend(f)
		return
	}
	prefix := namespace + "/"
	t.objects.AscendGreaterOrEqual(&entry{key: prefix}, func(e *entry) bool {
		return strings.HasPrefix(e.key, prefix) && f(e)
	})
}

// held returns the stored objects of a kind in a namespace, in key order. Admission calls it for every write, so it
// returns at once if the kind has no objects.
func held[T runtime.Object](s *Server, k *Kind, namespace string) (all []T) {
	if k == nil || s.tables[k.ordinal].objects.Len() == 0 {
		return nil
	}
	s.tables[k.ordinal].each(namespace, func(e *entry) bool {
		all = append(all, e.obj.(T))
		return true
	})
	return all
}

// eachOwned calls f for the objects that have an owner, in key order, until f returns false.
func (s *store) eachOwned(t *table, owner types.UID, f func(*entry) bool) {
	t.owners.AscendGreaterOrEqual(link{owner: owner}, func(l link) bool {
		return l.owner == owner && f(s.find(t, l.key))
	})
}

// eachMarked calls f for the objects in a namespace that have a label, in key order, until f returns false.
func (s *store) eachMarked(t *table, namespace, label, value string, f func(*entry) bool) {
	prefix := ""
	if namespace != "" && t.kind.Namespaced {
		prefix = namespace + "/"
	}
	t.marks.AscendGreaterOrEqual(mark{label, value, prefix}, func(m mark) bool {
		return m.label == label && m.value == value && strings.HasPrefix(m.key, prefix) && f(s.find(t, m.key))
	})
}

func newEntry(key string, obj runtime.Object) *entry {
	m := metadata.Of(obj)
	rv, err := strconv.ParseUint(m.GetResourceVersion(), 10, 64)
	if err != nil {
		panic("fakeapi: stored object " + key + " has resourceVersion " + m.GetResourceVersion())
	}
	return &entry{key: key, obj: obj, meta: m, rv: rv}
}

func (e *entry) written() runtime.Object {
	if e.stale != nil && e.stale.raw != nil {
		return e.stale.raw
	}
	return e.obj
}

func (e *entry) source() runtime.Object {
	if e.stale != nil && e.stale.as != nil {
		return e.stale.as
	}
	return e.obj
}

// away reports whether reading the object in the storage version needs a webhook call.
func (e *entry) away() bool { return e.stale != nil && e.stale.away }

// converted returns a copy of an entry with the object converted to the version k.
func (s *Server) converted(k *Kind, e *entry) (*entry, error) {
	obj, err := s.convert(k, e.source(), false)
	if err != nil {
		return nil, err
	}
	return &entry{key: e.key, obj: obj, meta: metadata.Of(obj), rv: e.rv, stale: e.stale}, nil
}
