package host

import (
	"slices"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/threelaws/threelaws/sim"
)

// queue is client-go's rate-limiting work queue on virtual time, without locks or goroutines. It is first in, first
// out. A key is in the queue at most once, and two workers never have the same key. A key that is added during its
// reconcile is queued again afterwards (WRITE-1).
type queue struct {
	clock      *sim.Clock
	owner      string // the name of the process, which owns the timers
	ready      []string
	line       fifo // digest of ready
	dirty      map[string]bool
	processing map[string]bool
	limiter    workqueue.TypedRateLimiter[string]
	steps      int // number of failures after which the delay no longer increases
	waiting    map[string]*sim.Alarm
	shut       bool
	cause      *int                         // index of the record that caused the current event
	pushed     *bool                        // set to true when a key is added to the queue
	delayed    func(key string)             // called for each key that is added with a delay
	added      func(key string, fresh bool) // called at each Add; fresh is false if the key was in the queue
	careless   bool                         // [Careless].SharedKeys: two workers may get the same key
	hasty      bool                         // [Careless].HastyDelays: two workers may get a key when its delay ends
}

// Backoff says how long a key waits after its first failure (First). Each further failure doubles the delay, up to
// Longest.
type Backoff struct{ First, Longest time.Duration }

// usual is client-go's default backoff of one key (workqueue.DefaultTypedControllerRateLimiter). The other limit of
// client-go, a token bucket for all keys, is left out because it reads the wall clock.
var usual = Backoff{First: 5 * time.Millisecond, Longest: 1000 * time.Second}

// steps returns the number of failures after which the delay no longer increases. Digests ignore further failures.
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
		dirty: map[string]bool{}, processing: map[string]bool{}, waiting: map[string]*sim.Alarm{},
		limiter: workqueue.NewTypedItemExponentialFailureRateLimiter[string](backoff.First, backoff.Longest),
		steps:   backoff.steps(),
	}
}

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

func (q *queue) push(key string) {
	q.ready, *q.pushed = append(q.ready, key), true
	q.line.push(sim.HashString(key))
}

func (q *queue) Len() int { return len(q.ready) }

// Get takes the oldest key. It does not wait: if no key is ready, it returns true, as after a shutdown. Only the host
// calls it.
func (q *queue) Get() (string, bool) {
	if len(q.ready) == 0 {
		return "", true
	}
	key := q.ready[0]
	if len(q.ready) < 64 {
		q.ready = slices.Delete(q.ready, 0, 1)
	} else {
		q.ready[0], q.ready = "", q.ready[1:] // advancing the slice avoids moving a long queue
	}
	q.line.pop(sim.HashString(key))
	q.processing[key] = true
	delete(q.dirty, key)
	return key, false
}

func (q *queue) Done(key string) {
	delete(q.processing, key)
	if q.dirty[key] && !q.careless {
		q.push(key)
	}
}

func (q *queue) ShutDown() { q.shut = true }

// ShutDownWithDrain is the same as ShutDown: it does not wait for the keys in progress.
func (q *queue) ShutDownWithDrain() { q.shut = true }

func (q *queue) ShuttingDown() bool { return q.shut }

// AddAfter adds a key after d. If the key already waits, the earlier time counts.
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

func (q *queue) AddRateLimited(key string) { q.AddAfter(key, q.limiter.When(key)) }

func (q *queue) Forget(key string) { q.limiter.Forget(key) }

// NumRequeues returns the number of failures since the last Forget.
func (q *queue) NumRequeues(key string) int { return q.limiter.NumRequeues(key) }

// digest adds the queue's state to h. The timers are part of the clock's state.
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

// digestKey returns the digest of a key in one of three sets: processing (1), dirty (2) or waiting (3). It includes the
// number of failures, which determines the next delay.
func (q *queue) digestKey(key string, set uint64) uint64 {
	var h sim.Hash
	h.String(key)
	h.Word(set)
	h.Word(uint64(min(q.limiter.NumRequeues(key), q.steps)))
	return sim.Mix(uint64(h))
}

// fifo is the digest of a queue: a polynomial in fifoBase modulo 2^64, with the oldest item first. push and pop keep
// the sum up to date, because fight detection reads it after every write.
type fifo struct {
	sum   uint64
	power uint64 // fifoBase to the power of the number of items; 0 in the zero value
}

const (
	fifoBase    = 0x9e3779b97f4a7c15
	fifoInverse = 0xf1de83e19937733d // the inverse of fifoBase modulo 2^64
)

func (f *fifo) push(item uint64) {
	if f.power == 0 {
		f.power = 1
	}
	f.sum = f.sum*fifoBase + item
	f.power *= fifoBase
}

// pop removes the oldest item.
func (f *fifo) pop(item uint64) {
	f.power *= fifoInverse
	f.sum -= item * f.power
}
