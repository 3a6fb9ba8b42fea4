package cli

import (
	"context"
	"runtime"
	"sync/atomic"
)

// inOrder does work on every item, on all cores, and hands over the results in
// the order of the items as soon as they are there. It reports whether all was
// done: when ctx ends, no more work is begun.
func inOrder[In, Out any](ctx context.Context, items []In, work func(In) Out, take func(Out)) bool {
	type result struct {
		out  Out
		done bool
	}
	results := make([]chan result, len(items))
	for i := range results {
		results[i] = make(chan result, 1)
	}
	var next atomic.Int64
	for range min(runtime.GOMAXPROCS(0), len(items)) {
		go func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(items) {
					return
				}
				if ctx.Err() != nil {
					results[i] <- result{}
					continue
				}
				results[i] <- result{work(items[i]), true}
			}
		}()
	}
	all := true
	for _, c := range results {
		if r := <-c; r.done {
			take(r.out)
		} else {
			all = false
		}
	}
	return all
}
