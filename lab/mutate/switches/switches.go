// Package switches is compiled into a mutated build. Each mutation asks [On] whether the mutation is on. So one build
// has all mutants, and at most one mutation is on at a time.
package switches

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
)

// None is the number that stands for no mutation.
const None = 0

// Env is the environment variable with the number of the mutation that is on from the start of a process. Mutations in
// initialization code need it.
const Env = "THREELAWS_MUTATION"

var (
	on      = fromEnv()
	reached [1 << 16]atomic.Bool
)

func fromEnv() int {
	n, _ := strconv.Atoi(os.Getenv(Env))
	return n
}

// Turn switches one mutation on and the others off. Turn([None]) switches all off.
func Turn(id int) { on = id }

// Reached returns the mutations that were reached since the last call; the first call includes initialization.
func Reached() []int {
	var ids []int
	for id := range reached {
		if reached[id].Swap(false) {
			ids = append(ids, id)
		}
	}
	return ids
}

func On(id int) bool {
	if !reached[id].Load() {
		reached[id].Store(true)
	}
	return on == id
}

// Not returns its argument, or the negation of it if the mutation is on.
func Not[T ~bool](id int, is T) T { return is != T(On(id)) }

// Less returns a < b, or a <= b if the mutation is on.
func Less[T cmp.Ordered](id int, a, b T) bool { return a < b || On(id) && a == b }

// AtMost returns a <= b, or a < b if the mutation is on.
func AtMost[T cmp.Ordered](id int, a, b T) bool { return a < b || !On(id) && a == b }

// Err returns err, or nil if the mutation is on.
func Err(id int, err error) error {
	if On(id) {
		return nil
	}
	return err
}

func Err2[A any](id int) func(A, error) (A, error) {
	return func(a A, err error) (A, error) { return a, Err(id, err) }
}

func Err3[A, B any](id int) func(A, B, error) (A, B, error) {
	return func(a A, b B, err error) (A, B, error) { return a, b, Err(id, err) }
}

// Elem returns v, or zero if the mutation is on.
func Elem[T any](id int, v T) T {
	if On(id) {
		var none T
		return none
	}
	return v
}

// Slice returns s without the element whose mutation is on. Each element has a mutation, numbered from first.
func Slice[S ~[]E, E any](first int, s S) S {
	for i := range s {
		if On(first + i) {
			return slices.Concat(s[:i], s[i+1:])
		}
	}
	return s
}

// Call1 returns the result of f. If the mutation is on, it returns zero and does not call f.
func Call1[A any](id int, f func() A) (a A) {
	if On(id) {
		return a
	}
	return f()
}

func Call2[A, B any](id int, f func() (A, B)) (a A, b B) {
	if On(id) {
		return a, b
	}
	return f()
}

func Call3[A, B, C any](id int, f func() (A, B, C)) (a A, b B, c C) {
	if On(id) {
		return a, b, c
	}
	return f()
}
