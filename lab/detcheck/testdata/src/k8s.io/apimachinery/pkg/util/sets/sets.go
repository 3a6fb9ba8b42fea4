// Package sets stands in for the real one.
package sets

type Set[T comparable] map[T]struct{}

func (s Set[T]) UnsortedList() []T        { return nil }
func (s Set[T]) PopAny() (one T, ok bool) { return one, false }
