// Package toy is mutated by the tests of package mutate.
package toy

import "errors"

// ErrOdd is the error of [Half] for an odd number.
var ErrOdd = errors.New("odd")

// Limits is a composite literal in initialization code.
var Limits = []int{10, 20}

// Half halves an even number.
func Half(n int) (int, error) {
	if n%2 != 0 {
		return 0, ErrOdd
	}
	return n / 2, nil
}

// Account sums numbers.
type Account struct {
	Sum, Calls int
	log        []string
}

// Put adds a number to the sum if it is positive and below the first limit.
func (a *Account) Put(n int) {
	a.log = append(a.log, "put")
	if n > 0 && n < Limits[0] {
		a.Sum += n
	}
	a.Calls++
}

// Without lists the conditions that [Small] leaves out.
type Without struct{ Least, Most bool }

// Small reports whether a number is small. Code that a field of Without enables is not mutated.
func Small(n int, w Without) bool {
	switch {
	case w.Least && n > 5, w.Least && !w.Most && n < 3:
		return n > 7
	case w.Most:
		return large(n)
	}
	return n < 10 && !(w.Most && n > 8)
}

// large is called only if a field of Without is set, so it is not mutated.
func large(n int) bool { return n > 9 }

// Sum puts the half of each number into an Account and returns its sum. An odd number is an error.
func Sum(list ...int) (int, error) {
	a := &Account{Sum: 1}
	for len(list) > 0 {
		h, err := Half(list[0])
		if err != nil {
			return 0, err
		}
		a.Put(h)
		list = list[1:]
	}
	return a.Sum, nil
}

// Odd has a chain of three operands, each of which can be left out, and also all except the last.
func Odd(n int) bool { return n < 0 || n > 9 || n == 5 }
