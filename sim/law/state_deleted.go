package law

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
)

// recentlyDeleted holds cluster-scoped objects that were deleted a short while ago, if an invariant uses
// [Invariant].Recent.
type recentlyDeleted struct {
	long time.Duration // the longest Recent of any invariant; 0 for none
	gone map[coords]deletion
}

// deletion is when an object was deleted, and its last value. If it came back and was deleted again, the first time
// counts.
type deletion struct {
	value any
	at    time.Duration
}

func (l *recentlyDeleted) fold(r *sim.Record) {
	if l.long == 0 || r.After != nil || r.Before == nil || r.Object.Namespace != "" {
		return
	}
	if l.gone == nil {
		l.gone = map[coords]deletion{}
	}
	at := coords{r.Object.Kind, "", r.Object.Name}
	if p, before := l.gone[at]; !before || r.At-p.at >= l.long {
		l.gone[at] = deletion{r.Before, r.At}
	}
}

// within returns the object if it was deleted no longer than long ago, and how long ago; nil otherwise.
func (l *recentlyDeleted) within(at coords, long, now time.Duration) (any, time.Duration) {
	if p, was := l.gone[at]; was && now-p.at < long {
		return p.value, now - p.at
	}
	return nil, 0
}

func (l *recentlyDeleted) digest(now time.Duration) uint64 {
	var sum uint64
	for at, p := range l.gone { //detcheck:ordered a sum
		if now-p.at < l.long {
			var h sim.Hash
			h.String(at.kind)
			h.String(at.name)
			h.Word(uint64(now - p.at))
			sum += sim.Mix(uint64(h))
		}
	}
	return sum
}

// deletedSinceSettled holds objects whose deletion was requested or completed since the world last settled.
// Anything else that is terminating or gone was so then. It is kept for programs, whose worlds are never searched
// exhaustively, so Digest leaves it out.
type deletedSinceSettled map[types.UID]bool

func (p deletedSinceSettled) fold(before metav1.Object, ends bool) {
	if p != nil && before != nil && ends {
		p[before.GetUID()] = true
	}
}
