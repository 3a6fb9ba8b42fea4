// Package detcheck is an analyser for code in which one list of choices must
// mean one run: it flags clocks, randomness, the environment, goroutines,
// select, and ranges over maps.
//
// A range over a map, or over anything else in map order, is flagged unless its
// body only sets or deletes elements under the range key, adds integers, returns
// one constant, or appends to a slice that the next statement sorts.
//
// The analyser does not look into functions: a call inside an expression is
// assumed to have no effect, unless it calls a variable or a method named Pick.
//
// A comment on the line above the loop or at the end of its first line excuses
// it, with a reason:
//
//	//detcheck:ordered the callee sorts what it is given
//
// A directive without a reason and a directive that excuses nothing are errors.
// Test files are not checked.
package detcheck
