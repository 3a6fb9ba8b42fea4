package fakeapi

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/google/btree"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/same"
)

// unchanged reports whether an object equals the stored one, so that nothing is written. With onlyMeta, only metadata
// can differ.
func unchanged(onlyMeta bool, obj runtime.Object, old *entry, m metav1.Object) bool {
	if old.stale != nil || !metadata.Same(m, old.meta) {
		return false
	}
	return onlyMeta || same.Object(obj, old.obj)
}

// commit stores an object. Nobody may change the object afterwards.
func (c *call) commit(t *table, before *entry, key string, obj runtime.Object, m metav1.Object) *entry {
	if c.s.opts.DropControllerRefs {
		metadata.DropControllers(m)
	}
	c.s.version++
	m.SetResourceVersion(strconv.FormatUint(c.s.version, 10))
	after := &entry{key: key, obj: obj, meta: m, rv: c.s.version}
	if c.k.stored != nil {
		after.obj = c.stored(obj, m.GetResourceVersion())
		after.meta = metadata.Of(after.obj)
		if before != nil {
			before = c.s.find(t, key)
		}
	}
	after.stale = c.stale
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

// drop removes an object. Watchers see its last state under a new revision.
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

// stored returns the object in the storage version.
func (c *call) stored(obj runtime.Object, version string) runtime.Object {
	if !c.k.asks() {
		c.kept = c.k.row.View.Keep(obj)
	}
	if c.stale = nil; c.k.custom != nil {
		raw := c.kept
		if c.kept = c.k.stored.custom.Defaulted(raw); c.kept != raw {
			c.stale = &stale{raw: raw}
		}
	}
	m := metadata.Of(c.kept)
	if c.s.opts.DropControllerRefs {
		metadata.DropControllers(m)
	}
	m.SetResourceVersion(version)
	return c.kept
}

func (c *call) keep(obj runtime.Object) (err error) {
	if c.k.asks() {
		c.kept, err = c.k.convert(obj, true)
	}
	return err
}

// maxObject is etcd's default limit for one request, in bytes.
const maxObject = 3 << 19

var errTooLargeObject = errors.New("etcdserver: request is too large")

// tooLarge refuses an object that etcd does not take. Built-in kinds are stored as protobuf, others as JSON.
func (s *Server) tooLarge(obj runtime.Object) error {
	if s.opts.Unlimited {
		return nil
	}
	size := 0
	switch o := obj.(type) {
	case interface{ Size() int }:
		size = o.Size()
	case *unstructured.Unstructured:
		if bulk(o.Object) < maxObject/6 { // a character has at most six bytes in JSON
			return nil
		}
		raw, err := json.Marshal(o.Object)
		if err != nil {
			return err
		}
		size = len(raw)
	}
	if size > maxObject {
		return errTooLargeObject
	}
	return nil
}

// bulk estimates the size of a value without encoding it.
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

// tally counts what was created under a key: past incarnations of an object, or names generated for a prefix.
type tally struct {
	key string
	n   int
	at  uint64 // the revision at which it was counted last
}

// floors are the highest counts that a table forgot. An unknown key counts from there, so that no uid and no
// generated name is used twice.
type floors struct{ past, made int }

// count returns the known count of a key, or else the floor.
func count(of *btree.BTreeG[tally], key string, floor int) int {
	if known, ok := of.Get(tally{key: key}); ok {
		return known.n
	}
	return floor
}

// forget drops the counts that have not changed since a revision, and returns the highest of them.
func forget(of *btree.BTreeG[tally], version uint64) (highest int) {
	var old []tally
	of.Ascend(func(c tally) bool {
		if c.at <= version {
			old = append(old, c)
		}
		return true
	})
	for _, c := range old {
		of.Delete(c)
		highest = max(highest, c.n)
	}
	return highest
}

// maxGenerated leaves room for five characters of suffix in a name of 63.
const maxGenerated = 58

// generate returns a name that is not taken. Each prefix has its own count, so that unrelated creates do not change
// each other's names.
func (c *call) generate(t *table, namespace, prefix string) string {
	if len(prefix) > maxGenerated {
		prefix = prefix[:maxGenerated]
	}
	made := t.generated(namespace + "/" + prefix)
	for n := made + 1; ; n++ {
		name := prefix + strconv.Itoa(n)
		if c.s.opts.Name != nil {
			name = c.s.opts.Name(prefix, n)
		}
		if c.s.lookup(t, namespace, name) == nil || n > made+1000 {
			c.generated = tally{key: namespace + "/" + prefix, n: n}
			return name
		}
	}
}

// gone returns an upper bound of the number of deleted incarnations of a key.
func (t *table) gone(key string) int { return count(t.past, key, t.most.past) }

func (t *table) generated(prefix string) int { return count(t.made, prefix, t.most.made) }

// uid returns the uid of the n-th incarnation (from 0) of an object. It is a function of group, kind, key and n, in
// the form of a random UUID.
func uid(k *Kind, key string, n int) types.UID {
	const prime = 1099511628211
	a, b := uint64(14695981039346656037), uint64(0x9e3779b97f4a7c15)
	mix := func(s string) {
		for i := 0; i < len(s); i++ {
			a = (a ^ uint64(s[i])) * prime
		}
		a = (a ^ 0xff) * prime
	}
	mix(k.GVK.Group)
	mix(k.GVK.Kind)
	mix(key)
	a = (a ^ uint64(n)) * prime
	b = scramble(a ^ b)
	a = scramble(a)
	var raw [16]byte
	for i := range 8 {
		raw[i], raw[8+i] = byte(a>>(8*i)), byte(b>>(8*i))
	}
	raw[6], raw[8] = raw[6]&0x0f|0x40, raw[8]&0x3f|0x80
	var text [36]byte
	hex.Encode(text[0:8], raw[0:4])
	hex.Encode(text[9:13], raw[4:6])
	hex.Encode(text[14:18], raw[6:8])
	hex.Encode(text[19:23], raw[8:10])
	hex.Encode(text[24:36], raw[10:16])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return types.UID(text[:])
}

// dryUID returns a uid for a dry run that no object and no other dry run has.
func (s *Server) dryUID(k *Kind, key string) types.UID {
	s.dry++
	return uid(k, key, -s.dry)
}

// scramble is the finaliser of SplitMix64: every bit of x changes half of the result's.
func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// unnamed returns a unique uid as the name of an object whose kind names itself.
func (c *call) unnamed(t *table, namespace string) string {
	for n := 0; ; n++ {
		name := string(uid(c.k, c.k.key(namespace, ""), n))
		if key := c.k.key(namespace, name); c.s.find(t, key) == nil && t.gone(key) == 0 {
			return name
		}
	}
}
