// Package detcheck is an analyser for code in which one list of choices must
// mean one run: it flags clocks, randomness, the environment, goroutines,
// select, and ranges over maps whose order can escape.
//
// # What it takes for harmless
//
// A range over a map (or over maps.Keys, maps.Values, maps.All) passes when its
// body only
//
//   - writes map elements under the range key, deletes elements, adds to
//     sets and to B-trees;
//   - folds integers with one commutative operator, or truth values with || or
//     &&, or takes a minimum or maximum;
//   - stores one and the same value whatever the entry;
//   - leaves with one and the same result whatever the entry;
//   - appends to a slice whose next use in the function is the first argument
//     of a sort (package slices or sort, or a function named sort...).
//
// It does not look into functions: a call inside an expression is taken for a
// query without effect, a call that stands as a statement for an effect. The
// exceptions are a call of a parameter and of a method named Pick, which are
// effects wherever they stand.
//
// # The way out
//
// A comment on the line above the loop or at the end of its first line, with a
// reason:
//
//	//detcheck:ordered the callee sorts what it is given
//
// A directive without a reason and one that excuses nothing are errors
// themselves. Test files are not checked.
package detcheck
