package validation

import (
	"encoding/binary"
	"hash/maphash"
	"sync"
	"sync/atomic"
)

// encoded is what the generated types of the API have: a deterministic encoding.
type encoded interface {
	Size() int
	MarshalToSizedBuffer(data []byte) (int, error)
}

// keys says which parts of objects the rules of a kind see beside metadata. Objects made from
// one template have the same parts, so that the rules need not be run for each.
type keys[E any] struct {
	spec, status func(obj *E) encoded
	// name is what the rules see of the metadata; nil for nothing.
	name func(obj *E) string
	// alone: the rules about the status see no spec.
	alone bool
	// writes says that it is the status that is written.
	writes bool
}

// ofStatus are the keys of a write to the status.
func (k *keys[E]) ofStatus() *keys[E] {
	if k == nil {
		return nil
	}
	of := *k
	of.writes = true
	return &of
}

// verdicts are the most recent objects with which nothing was wrong: their parts, encoded, at
// the place of the parts' hash. They are facts about values, so all servers share them.
var verdicts [1 << 11]atomic.Pointer[string]

// ways counts the ways to write objects: the number of one is part of its keys.
var ways atomic.Uint32

var seed = maphash.MakeSeed()

// verdict is a question to the verdicts.
type verdict struct {
	key   []byte
	at    *atomic.Pointer[string]
	right bool // the answer is known: nothing is wrong
}

var spareVerdicts = sync.Pool{New: func() any { return new(verdict) }}

// longest is the length of the longest key that is remembered.
const longest = 1 << 14

func (k *keys[E]) look(way uint32, obj, old *E) *verdict {
	v := spareVerdicts.Get().(*verdict)
	v.key = binary.LittleEndian.AppendUint32(v.key[:0], way)
	if k.name != nil {
		v.key = append(append(v.key, k.name(obj)...), 0)
	}
	if !k.writes || !k.alone {
		v.add(k.spec(obj))
	}
	switch {
	case k.writes:
		v.add(k.status(obj))
		v.add(k.status(old))
	case old != nil:
		v.add(k.spec(old))
	}
	v.at = &verdicts[maphash.Bytes(seed, v.key)%uint64(len(verdicts))]
	have := v.at.Load()
	v.right = have != nil && *have == string(v.key)
	return v
}

// add appends the encoding of a part and its length.
func (v *verdict) add(part encoded) {
	size := part.Size()
	at := len(v.key)
	if need := at + size; cap(v.key) < need+4 {
		v.key = append(make([]byte, 0, 2*need+4), v.key...)
	}
	v.key = v.key[:at+size]
	if _, err := part.MarshalToSizedBuffer(v.key[at:]); err != nil {
		panic("fakeapi: an object does not encode: " + err.Error())
	}
	v.key = binary.LittleEndian.AppendUint32(v.key, uint32(size))
}

// remember notes that nothing is wrong.
func (v *verdict) remember() {
	if len(v.key) <= longest {
		key := string(v.key)
		v.at.Store(&key)
	}
}

// forget gives the question back.
func (v *verdict) forget() { spareVerdicts.Put(v) }
