package law

import (
	"time"

	"github.com/threelaws/threelaws/sim"
)

// lately are the cluster-scoped objects that went a short while ago, where an invariant says
// how long one must have been gone before it counts as gone ([Invariant].Recent).
type lately struct {
	long time.Duration // the longest that any says; 0 for none
	gone map[coords]parting
}

// parting is when an object went, and as what. One that came back, and went again, went
// when it did so first.
type parting struct {
	value any
	at    time.Duration
}

func (l *lately) fold(r *sim.Record) {
	if l.long == 0 || r.After != nil || r.Before == nil || r.Object.Namespace != "" {
		return
	}
	if l.gone == nil {
		l.gone = map[coords]parting{}
	}
	at := coords{r.Object.Kind, "", r.Object.Name}
	if p, before := l.gone[at]; !before || r.At-p.at >= l.long {
		l.gone[at] = parting{r.Before, r.At}
	}
}

// within is the object that went no longer ago than so, nil for none, and how long ago.
func (l *lately) within(at coords, long, now time.Duration) (any, time.Duration) {
	if p, was := l.gone[at]; was && now-p.at < long {
		return p.value, now - p.at
	}
	return nil, 0
}

func (l *lately) digest(now time.Duration) uint64 {
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
