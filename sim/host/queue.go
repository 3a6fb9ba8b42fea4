package host

import (
	"slices"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/threelaws/threelaws/sim"
)

// queue is client-go's rate-limiting work queue on virtual time, without locks
// or goroutines: first in first out, a key at most once in the queue, never
// given to two workers at once; a key added while it is being worked on is
// queued again when that work is done (WRITE-1).
type queue struct {
	clock      *sim.Clock
	owner      string // process name, for timers
	ready      []string
	line       line // of ready
	dirty      map[string]bool
	processing map[string]bool
	limiter    workqueue.TypedRateLimiter[string]
	steps      int // failures after which the limiter's backoff grows no longer
	waiting    map[string]*sim.Alarm
	shut       bool
	cause      *int                         // the record that what happens now follows from
	pushed     *bool                        // set when a key is put into the queue
	delayed    func(key string)             // told of each key that is to be added later
	added      func(key string, fresh bool) // told of each Add; fresh when the key was not queued already
	careless   bool                         // mutant: hands a key out twice at once
	hasty      bool                         // mutant: ... when its delay is over
}

// Backoff is how long a key waits after its first failure; that is doubled at each
// further one, up to the longest.
type Backoff struct{ First, Longest time.Duration }

// usual is the per-key half of workqueue.DefaultTypedControllerRateLimiter. Its other
// half, a token bucket over all keys, reads the wall clock.
var usual = Backoff{First: 5 * time.Millisecond, Longest: 1000 * time.Second}

// steps is after how many failures it grows no longer: how many more there were is no state.
func (b Backoff) steps() (n int) {
	for d := b.First; d > 0 && d < b.Longest; d *= 2 {
		n++
	}
	return n
}

func newQueue(clock *sim.Clock, owner string, backoff Backoff, added func(string, bool)) *queue {
	if backoff == (Backoff{}) {
		backoff = usual
	}
	return &queue{
		clock: clock, owner: owner, added: added, delayed: func(string) {}, cause: new(int), pushed: new(bool),
		line:  line{power: 1},
		dirty: map[string]bool{}, processing: map[string]bool{}, waiting: map[string]*sim.Alarm{},
		limiter: workqueue.NewTypedItemExponentialFailureRateLimiter[string](backoff.First, backoff.Longest),
		steps:   backoff.steps(),
	}
}

// Add marks a key as needing work.
func (q *queue) Add(key string) {
	if q.shut {
		return
	}
	q.added(key, !q.dirty[key])
	if q.dirty[key] {
		return
	}
	q.dirty[key] = true
	if q.careless || !q.processing[key] {
		q.push(key)
	}
}

// push puts a key at the end of the queue.
func (q *queue) push(key string) {
	q.ready, *q.pushed = append(q.ready, key), true
	q.line.push(key)
}

// Len is the number of keys ready.
func (q *queue) Len() int { return len(q.ready) }

// Get takes the oldest key. It does not wait: with nothing ready it reports
// shutdown, since in the stepped host only the host takes keys.
func (q *queue) Get() (string, bool) {
	if len(q.ready) == 0 {
		return "", true
	}
	key := q.ready[0]
	if len(q.ready) < 64 {
		q.ready = slices.Delete(q.ready, 0, 1)
	} else {
		q.ready[0], q.ready = "", q.ready[1:] // a long queue is not moved for each key
	}
	q.line.pop(key)
	q.processing[key] = true
	delete(q.dirty, key)
	return key, false
}

// Done ends the work on a key.
func (q *queue) Done(key string) {
	delete(q.processing, key)
	if q.dirty[key] && !q.careless {
		q.push(key)
	}
}

// ShutDown makes the queue refuse keys.
func (q *queue) ShutDown() { q.shut = true }

// ShutDownWithDrain is ShutDown: nothing can be in flight while it is called.
func (q *queue) ShutDownWithDrain() { q.shut = true }

// ShuttingDown reports whether ShutDown was called.
func (q *queue) ShuttingDown() bool { return q.shut }

// AddAfter adds a key once d has passed; of several, the earliest counts.
func (q *queue) AddAfter(key string, d time.Duration) {
	if d <= 0 {
		q.Add(key)
		return
	}
	q.delayed(key)
	if a := q.waiting[key]; a != nil {
		if a.At <= q.clock.Elapsed()+d {
			return
		}
		q.clock.Stop(a)
	}
	cause := *q.cause
	q.waiting[key] = q.clock.After(d, q.owner, "requeue "+key, func() {
		delete(q.waiting, key)
		before := *q.cause
		*q.cause = cause
		defer func() { *q.cause = before }()
		if q.hasty && q.processing[key] && !q.dirty[key] {
			q.push(key)
			return
		}
		q.Add(key)
	})
}

// AddRateLimited adds a key after its backoff.
func (q *queue) AddRateLimited(key string) { q.AddAfter(key, q.limiter.When(key)) }

// Forget resets a key's backoff.
func (q *queue) Forget(key string) { q.limiter.Forget(key) }

// NumRequeues is the number of failures since the last Forget.
func (q *queue) NumRequeues(key string) int { return q.limiter.NumRequeues(key) }

// digest folds the queue's state; timers are the clock's.
func (q *queue) digest(h *sim.Hash) {
	h.Word(uint64(len(q.ready)))
	for _, k := range q.ready {
		h.String(k)
		h.Word(uint64(min(q.limiter.NumRequeues(k), q.steps)))
	}
	var sum uint64
	for k := range q.processing { //detcheck:ordered a sum
		sum += q.digestKey(k, 1)
	}
	for k := range q.dirty { //detcheck:ordered a sum
		sum += q.digestKey(k, 2)
	}
	for k := range q.waiting { //detcheck:ordered a sum
		sum += q.digestKey(k, 3)
	}
	h.Word(sum)
	h.Bool(q.shut)
}

// digestKey digests a key that is in one of the sets, with how often it failed:
// that is how long it waits the next time. Past the longest back-off it is no
// matter.
func (q *queue) digestKey(key string, set uint64) uint64 {
	var h sim.Hash
	h.String(key)
	h.Word(set)
	h.Word(uint64(min(q.limiter.NumRequeues(key), q.steps)))
	return sim.Mix(uint64(h))
}

// line is a digest of keys in their order that is kept up as they come and go, so
// that a long queue is not read for each commit.
type line struct{ sum, power uint64 }

const (
	lineBase    = 0x9e3779b97f4a7c15
	lineInverse = 0xf1de83e19937733d // lineBase * lineInverse is 1
)

// push takes in the key behind all others.
func (l *line) push(key string) {
	l.sum = l.sum*lineBase + sim.HashString(key)
	l.power *= lineBase
}

// pop takes out the key before all others.
func (l *line) pop(key string) {
	l.power *= lineInverse
	l.sum -= sim.HashString(key) * l.power
}
