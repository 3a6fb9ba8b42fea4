package host

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/objectdiff"
	"github.com/threelaws/threelaws/sim"
)

// version is one stored version of an object. All caches share it, so its digests are computed only once.
type version struct {
	obj  runtime.Object
	meta metav1.Object
	key  string
	n    uint32 // how many versions of this key have been stored; versions of removed objects count too

	// exact is a digest of the object. It contains n, not the resourceVersion, which depends on changes to other
	// objects.
	exact uint64
	// abstract is a digest that leaves out what differs between two rounds of a fight: see metaRules.
	abstract uint64

	views   []*version // the same object in other API versions
	encoded []byte     // the encoding of obj when it was stored, to detect a later change in place
	sync    uint64     // number of the last reconcile that added this version to its reads
}

// as returns v with its object in the API version of k, as the server s converts it. It returns v itself if the API
// version is equal. It panics on failure.
func (v *version) as(s *fakeapi.Server, k *fakeapi.Kind) *version {
	for _, w := range v.views {
		if w.obj.GetObjectKind().GroupVersionKind() == k.GVK {
			return w
		}
	}
	obj, err := s.Show(k, v.obj)
	if err != nil {
		panic(Misuse(fmt.Sprintf("a watch of %s in version %s cannot be sent %s: %v: it is no request that could be "+
			"refused, so a conversion has to make something of every object that is stored", k.GVK.Kind,
			k.GVK.GroupVersion(), v.key, err)))
	}
	if obj == v.obj {
		return v
	}
	w := &version{obj: obj, meta: obj.(metav1.Object), key: v.key, n: v.n, exact: v.exact, abstract: v.abstract,
		encoded: encode(obj)}
	v.views = append(v.views, w)
	return w
}

// protoObject is an object of a generated type of k8s.io/api.
type protoObject interface {
	Size() int
	MarshalToSizedBuffer(data []byte) (int, error)
}

func newVersion(kindSalt uint64, key string, n uint32, obj runtime.Object) *version {
	v := &version{obj: obj, key: key, n: n}
	var exact, abstract sim.Hash
	exact.Word(kindSalt)
	exact.String(key)
	exact.Word(uint64(n))
	abstract.Word(kindSalt)
	if obj != nil {
		v.meta = obj.(metav1.Object)
		v.encoded = encode(obj)
		if _, ok := obj.(protoObject); ok {
			digestProto(v.encoded, v.meta.GetGenerateName() != "", &exact, &abstract)
		} else {
			digestTree(obj.(runtime.Unstructured).UnstructuredContent(), v.meta.GetGenerateName() != "", &exact,
				&abstract)
		}
	}
	v.exact, v.abstract = uint64(exact), uint64(abstract)
	return v
}

// encode returns a deterministic encoding of an object.
func encode(obj runtime.Object) []byte {
	p, ok := obj.(protoObject)
	if !ok {
		return appendJSON(nil, obj.(runtime.Unstructured).UnstructuredContent())
	}
	buf := make([]byte, p.Size())
	if _, err := p.MarshalToSizedBuffer(buf); err != nil {
		panic("host: a stored object does not encode: " + err.Error())
	}
	return buf
}

// appendJSON appends what json.Marshal returns for a tree. It avoids reflection for most values, because every cached
// object is encoded after each sync that read it.
func appendJSON(to []byte, v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		if v == nil {
			break
		}
		to = append(to, '{')
		for i, k := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				to = append(to, ',')
			}
			to = append(appendJSON(to, k), ':')
			to = appendJSON(to, v[k])
		}
		return append(to, '}')
	case []any:
		if v == nil {
			break
		}
		to = append(to, '[')
		for i, e := range v {
			if i > 0 {
				to = append(to, ',')
			}
			to = appendJSON(to, e)
		}
		return append(to, ']')
	case string:
		if plain(v) {
			to = append(to, '"')
			to = append(to, v...)
			return append(to, '"')
		}
	case int64:
		return strconv.AppendInt(to, v, 10)
	case bool:
		return strconv.AppendBool(to, v)
	}
	data, err := json.Marshal(v)
	if err != nil {
		panic("host: a stored object does not encode: " + err.Error())
	}
	return append(to, data...)
}

// plain reports whether json.Marshal escapes nothing in s.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}

// intact reports whether the object still has its stored encoding. buf must have the length of v.encoded. So intact
// need not compute the object's size, which takes almost as long as encoding the object.
func (v *version) intact(buf []byte) (same bool) {
	p, ok := v.obj.(protoObject)
	if !ok {
		return bytes.Equal(appendJSON(buf[:0], v.obj.(runtime.Unstructured).UnstructuredContent()), v.encoded)
	}
	defer func() { _ = recover() }() // encoding panics if the object no longer fits into buf
	n, err := p.MarshalToSizedBuffer(buf)
	return err == nil && n == len(buf) && bytes.Equal(buf, v.encoded)
}

func digestProto(data []byte, generated bool, exact, abstract *sim.Hash) {
	for len(data) > 0 {
		num, field, rest := protoField(data)
		data = rest
		if num != 1 {
			h := sim.HashBytes(field)
			exact.Word(h)
			abstract.Word(h)
			continue
		}
		_, n := binary.Uvarint(field[1:])
		digestMeta(field[1+n:], generated, exact, abstract)
	}
}

func digestMeta(data []byte, generated bool, exact, abstract *sim.Hash) {
	for len(data) > 0 {
		num, field, rest := protoField(data)
		data = rest
		rule := ruleOfField(num)
		if rule == never {
			continue
		}
		h := sim.HashBytes(field)
		exact.Word(h)
		switch {
		case rule == owners:
			digestOwner(field, abstract)
		case rule == annotated && isCreatedBy(field):
		default:
			rule.abstract(uint64(num), h, generated, abstract)
		}
	}
}

// digestOwner adds an owner reference without the owner's UID.
func digestOwner(field []byte, abstract *sim.Hash) {
	for data := message(field); len(data) > 0; {
		num, f, rest := protoField(data)
		data = rest
		if num != ownerUIDField {
			abstract.Word(sim.HashBytes(f))
		}
	}
}

func isCreatedBy(field []byte) bool {
	num, key, _ := protoField(message(field))
	return num == 1 && string(message(key)) == createdByAnnotation
}

// message returns the content of a length-delimited field, without tag and length.
func message(field []byte) []byte {
	_, t := binary.Uvarint(field)
	_, l := binary.Uvarint(field[t:])
	return field[t+l:]
}

// protoField returns the number of the first field of a protobuf message, the field with its tag, and the remainder.
func protoField(data []byte) (num int, field, rest []byte) {
	tag, n := binary.Uvarint(data)
	end := n
	switch tag & 7 {
	case 0:
		_, m := binary.Uvarint(data[n:])
		end += m
	case 1:
		end += 8
	case 2:
		l, m := binary.Uvarint(data[n:])
		end += m + int(l)
	case 5:
		end += 4
	default:
		panic("host: an encoded object has an unknown wire type")
	}
	return int(tag >> 3), data[:end], data[end:]
}

// standing caches the versions of large objects that exist when a cluster begins. Many clusters begin with the same
// CRDs. A CRD may have a megabyte, and its encoding takes longer than a whole run.
var standing standingVersions

type standingVersions struct {
	mutex sync.Mutex
	made  map[runtime.Object]*version
	order []runtime.Object // the keys of made, oldest first
}

// A large object has an encoding of at least largeObject bytes. At most mostStandings large objects are kept.
const (
	largeObject   = 16 << 10
	mostStandings = 256
)

// version is like newVersion, for an object that exists when a cluster begins. It can cache the result, because
// stored objects never change.
func (c *standingVersions) version(salt uint64, key string, n uint32, obj runtime.Object) *version {
	c.mutex.Lock()
	made := c.made[obj]
	c.mutex.Unlock()
	if made != nil && made.key == key && made.n == n {
		return &version{obj: obj, meta: made.meta, key: key, n: n, exact: made.exact, abstract: made.abstract,
			encoded: made.encoded}
	}
	v := newVersion(salt, key, n, obj)
	if len(v.encoded) < largeObject {
		return v
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.made == nil {
		c.made = map[runtime.Object]*version{}
	}
	if _, again := c.made[obj]; !again {
		if c.order = append(c.order, obj); len(c.order) > mostStandings {
			delete(c.made, c.order[0])
			c.order = c.order[1:]
		}
	}
	kept := *v
	c.made[obj] = &kept
	return v
}

// mutationOf returns the record of a cached object that was changed in place. For a type of k8s.io/api, the record
// names a changed field, because the stored encoding contains the original.
func mutationOf(k *fakeapi.Kind, v *version) sim.Record {
	r := sim.Record{Op: sim.Mutation, Verb: "mutate", Object: refOf(k, v.meta), After: v.obj}
	r.Message = "a cached object"
	if original := decode(k.New(), v.encoded); original != nil {
		gvk := v.obj.GetObjectKind().GroupVersionKind() // the encoding does not contain the kind
		original.GetObjectKind().SetGroupVersionKind(gvk)
		r.Before = original
		if leaves := objectdiff.Of(original, v.obj); len(leaves) > 0 {
			l := leaves[0]
			r.Message = fmt.Sprintf("%s: %s became %s", l.Path, shown(l.Was), shown(l.Is))
			r.Reason = l.Path
		}
	}
	return r
}

func decode(into runtime.Object, data []byte) runtime.Object {
	u, ok := into.(interface{ Unmarshal([]byte) error })
	if !ok || u.Unmarshal(data) != nil {
		return nil
	}
	return into
}

// shown formats a value for a message: a string without quotes, anything else as JSON.
func shown(v reflect.Value) string {
	if v = objectdiff.Inside(v); !v.IsValid() {
		return "(absent)"
	}
	if v.Kind() == reflect.String {
		return v.String()
	}
	return objectdiff.JSON(v)
}
