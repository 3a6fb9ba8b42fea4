package view

import (
	"slices"
	"strings"
	"time"

	"github.com/threelaws/threelaws/sim"
)

// Key is an object's namespace and name, as a queue has them.
type Key struct{ Namespace, Name string }

// KeyOf is the key of what a reference names.
func KeyOf(r sim.Ref) Key { return Key{r.Namespace, r.Name} }

// String renders a key as the queue has it.
func (n Key) String() string {
	if n.Namespace == "" {
		return n.Name
	}
	return n.Namespace + "/" + n.Name
}

// Queue is what became of the keys of a process's queue.
type Queue struct {
	Keys []Queued
	at   map[Key]int
}

// Queued is one of them.
type Queued struct {
	Key
	Running int           // workers at it
	Dirty   bool          // enqueued since its last sync began
	Failed  bool          // its last sync ended with an error
	Ended   time.Duration // when
	Again   bool          // its last sync, if it failed, was a retry of one that had
	Hot     int           // failed syncs in a row that no event came before, and less than [Brief]
}

// Brief is a backoff that is none where it does not grow: client-go's, which doubles from five
// milliseconds on, is longer after eight failures.
const Brief = time.Second

// NewQueue returns an empty queue.
func NewQueue() Queue { return Queue{at: map[Key]int{}} }

// Clear forgets all keys.
func (q *Queue) Clear() {
	q.Keys = q.Keys[:0]
	clear(q.at)
}

func (q *Queue) get(key Key) *Queued {
	i, ok := q.at[key]
	if !ok {
		i = len(q.Keys)
		q.at[key] = i
		q.Keys = append(q.Keys, Queued{Key: key})
	}
	return &q.Keys[i]
}

// Find is what became of a key, nil for one that was never in the queue. The pointer
// is good until the next change.
func (q *Queue) Find(key Key) *Queued {
	if i, ok := q.at[key]; ok {
		return &q.Keys[i]
	}
	return nil
}

// Add notes that a key was put into the queue.
func (q *Queue) Add(key string) {
	ns, name, ok := strings.Cut(key, "/")
	if !ok {
		ns, name = "", key
	}
	q.get(Key{ns, name}).Dirty = true
}

// Tidy drops the keys of which there is nothing to say.
func (q *Queue) Tidy() {
	q.Keys = slices.DeleteFunc(q.Keys, func(k Queued) bool {
		return k.Running == 0 && !k.Dirty && !k.Failed && k.Hot == 0
	})
	clear(q.at)
	for i := range q.Keys {
		q.at[q.Keys[i].Key] = i
	}
}

// Start notes that a worker took a key.
func (q *Queue) Start(key Key, at time.Duration) {
	k := q.get(key)
	k.Again = k.Failed && !k.Dirty
	if !k.Dirty && k.Failed && at-k.Ended < Brief {
		k.Hot++
	} else {
		k.Hot = 0
	}
	k.Running++
	k.Dirty = false
}

// End notes that it is done with it.
func (q *Queue) End(key Key, failed bool, at time.Duration) {
	k := q.get(key)
	k.Running = max(k.Running-1, 0)
	k.Failed, k.Ended, k.Again = failed, at, k.Again && failed
}
