package fakeapi

import "github.com/google/btree"

// tally counts what was made under a key: past incarnations of an object, or
// names generated for a prefix.
type tally struct {
	key string
	n   int
	at  uint64 // the revision at which it was counted last
}

// floors are the highest counts of a table that were forgotten. A key of which nothing
// is known counts from there, so that no uid and no generated name comes a second time.
type floors struct{ past, made int }

// gone is how many incarnations of a key are gone, or more.
func (t *table) gone(key string) int { return count(t.past, key, t.most.past) }

// generated is how many names were made for a namespace and prefix, or more.
func (t *table) generated(prefix string) int { return count(t.made, prefix, t.most.made) }

func count(of *btree.BTreeG[tally], key string, floor int) int {
	if known, ok := of.Get(tally{key: key}); ok {
		return known.n
	}
	return floor
}

// ForgetNames forgets which names there were of what was gone at a revision, so that a
// server that runs for ever does not grow. Uids and generated names stay unique, but are
// other ones than those of a server that remembers.
func (s *Server) ForgetNames(version uint64) {
	for _, k := range s.kinds {
		t := s.writable(k)
		t.most.past = max(t.most.past, forget(t.past, version))
		t.most.made = max(t.most.made, forget(t.made, version))
	}
}

// forget drops the counts that have not changed since a revision, and returns the
// highest of them.
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
