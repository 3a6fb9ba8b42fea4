// Package detcheck is an analyser for code in which one list of choices must
// mean one run: it flags clocks, randomness, the environment, goroutines,
// select, and ranges over maps.
//
// A range over a map is flagged. So is any use of maps.Keys, maps.Values, maps.All, of UnsortedList and PopAny of
// a set, and of reflect.Value.MapKeys, unless it is an argument of slices.Sorted; and maps.DeleteFunc, unless
// its function only returns a value.
//
// A comment on the line above the loop or at the end of its first line excuses
// it, with a reason:
//
//	//detcheck:ordered the sum is the same in every order
//
// A directive without a reason and a directive that excuses nothing are errors.
// Test files are not checked.
package detcheck
