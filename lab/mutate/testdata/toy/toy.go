// Package toy is mutated by the tests of package mutate.
package toy

import "errors"

// ErrOdd is what [Half] answers to what it cannot halve.
var ErrOdd = errors.New("odd")

// Limits is a composite of the initialisation.
var Limits = []int{10, 20}

// Half halves an even number.
func Half(n int) (int, error) {
	if n%2 != 0 {
		return 0, ErrOdd
	}
	return n / 2, nil
}

// Account counts what is put in.
type Account struct {
	Sum, Calls int
	log        []string
}

// Put adds to the sum what is neither too small nor too large.
func (a *Account) Put(n int) {
	a.log = append(a.log, "put")
	if n > 0 && n < Limits[0] {
		a.Sum += n
	}
	a.Calls++
}

// Without names what may be left out of [Small].
type Without struct{ Least, Most bool }

// Small says whether a number is small. What is left out is not mutated.
func Small(n int, w Without) bool {
	switch {
	case w.Least && n > 5, w.Least && !w.Most && n < 3:
		return n > 7
	case w.Most:
		return large(n)
	}
	return n < 10 && !(w.Most && n > 8)
}

// large is for who has left something out, and is not mutated either.
func large(n int) bool { return n > 9 }

// Sum puts in everything, and says what that comes to; nothing of it may be odd.
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

// Odd says whether a number is: each operand of a chain can be left out, and all but the last.
func Odd(n int) bool { return n < 0 || n > 9 || n == 5 }
