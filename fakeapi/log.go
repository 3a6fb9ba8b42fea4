package fakeapi

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
)

// Since returns the changes to objects of a kind after a revision, oldest first. A compacted revision gives 410
// Expired.
func (s *Server) Since(k *Kind, version uint64) ([]Event, error) {
	t := s.tables[k.ordinal]
	if version < t.compacted {
		return nil, errTooOld(version, t.compacted)
	}
	n := 0
	for c := t.log; c != nil && c.ev[0].Version > version; c = c.prev {
		n++
	}
	if n == 0 {
		return nil, nil
	}
	if n == 1 {
		return t.log.ev[:1:1], nil
	}
	events := make([]Event, n)
	for c := t.log; n > 0; c = c.prev {
		n--
		events[n] = c.ev[0]
	}
	return events, nil
}

func errTooOld(version, oldest uint64) error {
	return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", version, oldest))
}

// SnapshotAt returns the objects of a kind at a revision, in key order. A compacted revision gives 410 Expired.
func (s *Server) SnapshotAt(k *Kind, version uint64) ([]runtime.Object, error) {
	t := s.tables[k.ordinal]
	if version < t.compacted {
		return nil, errTooOld(version, t.compacted)
	}
	entries := t.at(version)
	objects := make([]runtime.Object, len(entries))
	for i, e := range entries {
		objects[i] = e.obj
	}
	return objects, nil
}

// at returns the entries at a revision. It copies the current entries and undoes the later changes in the copy.
func (t *table) at(version uint64) []*entry {
	view := t.objects
	if t.log != nil && t.log.ev[0].Version > version {
		t.copies.Lock()
		view = t.objects.Clone()
		t.copies.Unlock()
	}
	for c := t.log; c != nil && c.ev[0].Version > version; c = c.prev {
		if ev := &c.ev[0]; ev.Before == nil {
			view.Delete(&entry{key: ev.Key})
		} else {
			view.ReplaceOrInsert(newEntry(ev.Key, ev.Before))
		}
	}
	entries := make([]*entry, 0, view.Len())
	view.Ascend(func(e *entry) bool {
		entries = append(entries, e)
		return true
	})
	return entries
}

// Oldest returns the oldest revision of a kind that is not compacted: lists and watches can begin there.
func (s *Server) Oldest(k *Kind) uint64 { return s.tables[k.ordinal].compacted }

// Compact drops the changes of all kinds up to and including a revision. Watches can still begin at that revision.
func (s *Server) Compact(version uint64) {
	version = min(version, s.version)
	for i := range s.tables {
		t := s.writable(s.tables[i].kind)
		if version <= t.compacted {
			continue
		}
		t.compacted = version
		t.log = t.log.after(version)
	}
}

// ForgetNames saves memory. The server counts deleted objects by name, and generated names by prefix. ForgetNames drops
// counts that have not changed since a revision. This changes later UIDs and generated names, but they stay unique.
func (s *Server) ForgetNames(version uint64) {
	for i := range s.tables {
		t := s.writable(s.tables[i].kind)
		t.most.past = max(t.most.past, forget(t.past, version))
		t.most.made = max(t.most.made, forget(t.made, version))
	}
}

// after returns a copy of the changes after a revision. It does not change the original list, which a fork may share.
func (c *change) after(version uint64) *change {
	if c == nil || c.ev[0].Version <= version {
		return nil
	}
	first := &change{ev: c.ev}
	for last := first; ; last = last.prev {
		c = c.prev
		if c == nil || c.ev[0].Version <= version {
			return first
		}
		last.prev = &change{ev: c.ev}
	}
}
