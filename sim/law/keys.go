package law

import (
	"strings"
	"time"

	"github.com/threelaws/threelaws/sim"
)

type nsName struct{ namespace, name string }

// String renders a key as the queue has it.
func (n nsName) String() string {
	if n.namespace == "" {
		return n.name
	}
	return n.namespace + "/" + n.name
}

// keys is what became of the keys of a process's queue.
type keys struct {
	list []queueKey
	at   map[nsName]int
}

type queueKey struct {
	nsName
	running int           // workers at it
	dirty   bool          // enqueued since its last sync began
	failed  bool          // its last sync ended with an error
	ended   time.Duration // when
	hot     int           // failed syncs in a row that no event and no backoff came before
}

func (k *keys) clear() {
	k.list = k.list[:0]
	clear(k.at)
}

func (k *keys) get(n nsName) *queueKey {
	i, ok := k.at[n]
	if !ok {
		i = len(k.list)
		k.at[n] = i
		k.list = append(k.list, queueKey{nsName: n})
	}
	return &k.list[i]
}

func (k *keys) enqueue(key string) {
	ns, name, ok := strings.Cut(key, "/")
	if !ok {
		ns, name = "", key
	}
	k.get(nsName{ns, name}).dirty = true
}

func (k *keys) start(r *sim.Record, n nsName) {
	q := k.get(n)
	if !q.dirty && q.failed && q.ended == r.At {
		q.hot++
	} else {
		q.hot = 0
	}
	q.running++
	q.dirty = false
}

func (k *keys) end(r *sim.Record) {
	q := k.get(nsName{r.For.Namespace, r.For.Name})
	q.running = max(q.running-1, 0)
	q.failed, q.ended = r.Message != "", r.At
}
