// Package cache stands in for the real one.
package cache

func NewSharedIndexInformer() int { return 0 }
func NewIndexer() int             { return 0 }
