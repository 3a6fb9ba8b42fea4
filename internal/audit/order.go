package audit

import "container/heap"

// The windows for sorting events, in events. An apiserver writes a line when it has answered, so lines are out of order
// by the number of concurrent requests.
const (
	timeWindow    = 2048
	versionWindow = 512
)

// sorter sorts events by the resource versions that they made. Events without one stay where they were answered: after
// the latest version made by then.
//
// It has two windows. The first sorts by time, so that events without a version can get one; the second sorts by
// version. If a cluster has several stores, the versions of each are in order.
type sorter struct {
	byTime    queue
	byVersion queue
	latest    uint64
	n         uint64
}

// queue is a heap of events; the next one comes first.
type queue struct {
	events []*queued
	less   func(a, b *queued) bool
}

// queued is an event in a queue, with its arrival number.
type queued struct {
	*event
	n uint64
}

func newSorter() *sorter {
	return &sorter{
		byTime: queue{less: func(a, b *queued) bool {
			if !a.at.Equal(b.at) {
				return a.at.Before(b.at)
			}
			return a.n < b.n
		}},
		byVersion: queue{less: func(a, b *queued) bool {
			if a.order != b.order {
				return a.order < b.order
			}
			return a.n < b.n
		}},
	}
}

// add takes an event, and passes on those that no later event can precede.
func (s *sorter) add(e *event, next func(*event)) {
	s.n++
	heap.Push(&s.byTime, &queued{e, s.n})
	if s.byTime.Len() > timeWindow {
		s.timed(next, versionWindow)
	}
}

// timed moves one event from the first window to the second.
func (s *sorter) timed(next func(*event), window int) {
	q := heap.Pop(&s.byTime).(*queued)
	if q.order == 0 {
		q.order = s.latest
	}
	s.latest = max(s.latest, q.order)
	s.n++
	q.n = s.n
	heap.Push(&s.byVersion, q)
	for s.byVersion.Len() > window {
		next(heap.Pop(&s.byVersion).(*queued).event)
	}
}

// end passes on the rest.
func (s *sorter) end(next func(*event)) {
	for s.byTime.Len() > 0 {
		s.timed(next, versionWindow)
	}
	for s.byVersion.Len() > 0 {
		next(heap.Pop(&s.byVersion).(*queued).event)
	}
}

func (q *queue) Len() int           { return len(q.events) }
func (q *queue) Less(i, k int) bool { return q.less(q.events[i], q.events[k]) }
func (q *queue) Swap(i, k int)      { q.events[i], q.events[k] = q.events[k], q.events[i] }
func (q *queue) Push(x any)         { q.events = append(q.events, x.(*queued)) }

func (q *queue) Pop() any {
	last := len(q.events) - 1
	x := q.events[last]
	q.events[last] = nil
	q.events = q.events[:last]
	return x
}
