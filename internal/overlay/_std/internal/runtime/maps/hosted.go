package maps

import (
	"internal/abi"
	"internal/runtime/atomic"
	"unsafe"
)

// hostedOrder contains the insertion order of a table. It is used for maps whose keys contain addresses.
type hostedOrder struct {
	came []uint64 // for each slot, the number of its entry in insertion order; nil if keys contain no addresses
	keep uint64   // the number for the next entry, if it comes from an older table; otherwise 0
}

// hostedLast is the number of the entry that was inserted last in any map.
var hostedLast atomic.Uint64

// hostedAddress reports whether the hash of keys of this type depends on addresses.
func hostedAddress(key *abi.Type) bool {
	switch key.Kind() {
	case abi.Pointer, abi.UnsafePointer, abi.Chan, abi.Interface:
		return true
	case abi.Array:
		return hostedAddress((*abi.ArrayType)(unsafe.Pointer(key)).Elem)
	case abi.Struct:
		for _, f := range (*abi.StructType)(unsafe.Pointer(key)).Fields {
			if hostedAddress(f.Typ) {
				return true
			}
		}
	}
	return false
}

// hostedPlace records that slot i of a group has a new entry. size is the size of a group in bytes.
func (t *table) hostedPlace(size uintptr, g groupReference, i uintptr) {
	if t.came == nil {
		return
	}
	n := t.keep
	if t.keep = 0; n == 0 {
		n = hostedLast.Add(1)
	}
	t.came[(uintptr(g.data)-uintptr(t.groups.data))/size*8+i] = n
}

// hostedKeep is called when entries move to a new table. The next entry keeps its number from the old table.
func (t *table) hostedKeep(from *table, group uint64, slot uintptr) {
	if from.came != nil {
		t.keep = from.came[group*8+uint64(slot)]
	}
}

// hostedIndex is the value of Iter.dirIdx for an iterator in insertion order.
const hostedIndex = -2

// hostedEntry is an entry that an iterator has not visited yet.
type hostedEntry struct {
	key  unsafe.Pointer // a pointer to a copy of the key
	came uint64
}

type hostedEntries struct {
	list []hostedEntry
	next int
	left int
}

// hostedInit makes an iterator use insertion order, if keys contain addresses. It begins at a random entry, as usual.
func (it *Iter) hostedInit() {
	m := it.m
	if m.dirLen <= 0 || m.directoryAt(0).came == nil {
		return
	}
	e := &hostedEntries{list: make([]hostedEntry, 0, m.used)}
	for d := 0; d < m.dirLen; d++ {
		t := m.directoryAt(uintptr(d))
		if d > 0 && t == m.directoryAt(uintptr(d-1)) {
			continue
		}
		for i, n := range t.came {
			g, slot := t.groups.group(it.typ, uint64(i/8)), uintptr(i%8)
			if g.ctrls().get(slot)&ctrlEmpty == ctrlEmpty {
				continue
			}
			key := g.key(it.typ, slot)
			if it.typ.IndirectKey() {
				key = *(*unsafe.Pointer)(key)
			}
			k := newobject(it.typ.Key)
			typedmemmove(it.typ.Key, k, key)
			e.list = append(e.list, hostedEntry{k, n})
		}
	}
	e.sort()
	if e.left = len(e.list); e.left > 0 {
		e.next = int(it.entryOffset % uint64(e.left))
	}
	it.dirIdx, it.group.data = hostedIndex, unsafe.Pointer(e)
}

// sort sorts by insertion order, with a shellsort.
func (e *hostedEntries) sort() {
	for gap := len(e.list) / 2; gap > 0; gap /= 2 {
		for i := gap; i < len(e.list); i++ {
			for j := i; j >= gap && e.list[j].came < e.list[j-gap].came; j -= gap {
				e.list[j], e.list[j-gap] = e.list[j-gap], e.list[j]
			}
		}
	}
}

// hostedNext moves to the next entry that still exists.
func (it *Iter) hostedNext() {
	e := (*hostedEntries)(it.group.data)
	for e.left > 0 {
		k := e.list[e.next].key
		e.left--
		if e.next++; e.next == len(e.list) {
			e.next = 0
		}
		if key, elem, ok := it.m.getWithKey(it.typ, k); ok {
			it.key, it.elem = key, elem
			return
		}
	}
	it.key, it.elem = nil, nil
}
