// Package btree stands in for the real one.
package btree

type BTreeG[T any] struct{}

func (t *BTreeG[T]) ReplaceOrInsert(item T) (T, bool) { return item, false }
func (t *BTreeG[T]) Delete(item T) (T, bool)          { return item, false }
