// Package sets stands in for the real one.
package sets

type Set[T comparable] map[T]struct{}

func New[T comparable](items ...T) Set[T]          { return nil }
func (s Set[T]) Insert(items ...T) Set[T]          { return s }
func (s Set[T]) Delete(items ...T) Set[T]          { return s }
func (s Set[T]) Has(item T) bool                   { return false }
func (s Set[T]) UnsortedList() []T                 { return nil }
func List[T comparable](s Set[T]) []T              { return nil }
func KeySet[T comparable, V any](m map[T]V) Set[T] { return nil }
