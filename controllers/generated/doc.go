// Package generated holds tests only: worlds that are made from a seed, each for one
// controller, with what came of them pinned. A seed decides what is made (specs of which
// every field that the controller reads has several values, the odd ones too; objects that
// are there before, orphans and others' among them), what users and the machines that pods
// run on do then, which requests fail, which views stand still, who crashes when, how time
// passes, and in some worlds what comes first of all that could happen.
//
// The testdata has a file for each controller. A line of it is a world: its seed, a number
// for each of its acts and one for the whole of it. What a number stands for is what go test
// shows of a world with -story: each write with what it changed, what was refused, the
// syncs that failed, and at each rest what the controllers remember and what they declare of
// the objects that there are. The stories of a few worlds are kept next to the numbers, for people to
// read. All are rewritten by go test with -update.
package generated
