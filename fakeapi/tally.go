package fakeapi

import "github.com/google/btree"

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
