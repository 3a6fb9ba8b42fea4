package flow

import "iter"

func concurrent(a, b chan int) {
	go func() {}() // want `go statement: when the goroutine runs is not the schedule's choice; make it an actor`
	select {       // want `select: which ready case runs is random; offer the cases as actions`
	case <-a:
	case <-b:
	}
}

// A coroutine is no goroutine of its own: it runs when it is told to.
func coroutine(seq iter.Seq[int]) int {
	next, stop := iter.Pull(seq)
	defer stop()
	v, _ := next()
	return v
}
