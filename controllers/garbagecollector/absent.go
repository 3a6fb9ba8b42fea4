package garbagecollector

import (
	"container/list"

	"github.com/threelaws/threelaws/sim"
)

// absentSize limits the remembered absent owners.
const absentSize = 500

// absentOwners caches owners that do not exist, least recently used out first: dependents of one missing owner come in
// numbers. An entry stays true because uids are unique. The key has all coordinates. A missing object of one name says
// nothing about the same uid under another name, kind or namespace (GC-5, GC-7, RULES K95).
type absentOwners struct {
	without *Without
	entries map[identity]*list.Element
	order   *list.List // of identity, last used first
}

func newAbsentOwners(without *Without) absentOwners {
	return absentOwners{without: without, entries: map[identity]*list.Element{}, order: list.New()}
}

func (a *absentOwners) key(id identity) identity {
	if a.without.AbsentCoordinates {
		return identity{uid: id.uid}
	}
	return id
}

func (a *absentOwners) add(id identity) {
	key := a.key(id)
	if e := a.entries[key]; e != nil {
		a.order.MoveToFront(e)
		return
	}
	a.entries[key] = a.order.PushFront(key)
	if a.order.Len() > absentSize {
		last := a.order.Back()
		delete(a.entries, last.Value.(identity))
		a.order.Remove(last)
	}
}

func (a *absentOwners) has(id identity) bool {
	e := a.entries[a.key(id)]
	if e != nil {
		a.order.MoveToFront(e)
	}
	return e != nil
}

// digest ignores the order, which matters only when the cache overflows.
func (a *absentOwners) digest(h *sim.Hash) {
	var sum uint64
	for e := a.order.Front(); e != nil; e = e.Next() {
		var one sim.Hash
		id := e.Value.(identity)
		id.digest(&one)
		sum += sim.Mix(uint64(one))
	}
	h.Word(sum)
}
