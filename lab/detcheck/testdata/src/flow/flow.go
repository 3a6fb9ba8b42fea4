package flow

import "iter"

func concurrent(a, b chan int) {
	go func() {}() // want `go statement: when the goroutine runs is not the schedule's choice; make it an actor`
	select {       // want `select: which ready case runs is random; offer the cases as actions`
	case <-a:
	case <-b:
	}
}

// A coroutine of iter.Pull is not a goroutine that runs on its own: the caller resumes it.
func coroutine(seq iter.Seq[int]) int {
	next, stop := iter.Pull(seq)
	defer stop()
	v, _ := next()
	return v
}
