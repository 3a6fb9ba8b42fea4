package watch

import (
	"cmp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// check looks for one sort of thing that is wrong with an object as it stands.
type check struct {
	sort Sort
	// wrong says what is wrong, "" for nothing.
	wrong func(c *Cluster, e *entry) string
	// lasts reports whether it has been so for long enough, since a time.
	lasts func(c *Cluster, e *entry, since, now time.Time) bool
	who   func(e *entry) string
}

// checks are what is asked of each object when something about it changes, and for as long
// as it is wrong.
var checks = []check{
	{Stuck, (*Cluster).stuck, (*Cluster).overdue, nobody},
	{Orphan, (*Cluster).orphan, (*Cluster).patient, nobody},
	{LostOwner, (*Cluster).lost, (*Cluster).patient, referrer},
	{ForeignOwner, (*Cluster).foreign, (*Cluster).soon, referrer},
	{Takeover, (*Cluster).takeover, (*Cluster).soon, (*entry).taker},
}

// key is what is told once. What an object waits for may change while it does.
func (k *check) key(text string) string {
	if k.sort == Stuck {
		return string(k.sort)
	}
	return string(k.sort) + text
}

// lag is how far one watch may be behind another.
const lag = 2 * time.Second

func (c *Cluster) patient(_ *entry, since, now time.Time) bool { return now.Sub(since) >= c.Patience }

func (c *Cluster) soon(_ *entry, since, now time.Time) bool {
	return now.Sub(since) >= min(lag, c.Patience)
}

func (c *Cluster) overdue(e *entry, _, now time.Time) bool {
	return now.Sub(e.now.DeletionTimestamp.Time) >= c.Stuck
}

// suspect notes what may be wrong with an object.
func (c *Cluster) suspect(now time.Time, e *entry) {
	if !c.Synced() {
		return
	}
	for i := range checks {
		k := &checks[i]
		text := k.wrong(c, e)
		if text == "" || e.told[k.key(text)] {
			delete(c.open[e], k.sort)
			continue
		}
		if c.open[e] == nil {
			c.open[e] = map[Sort]time.Time{}
		}
		if _, ok := c.open[e][k.sort]; !ok {
			c.open[e][k.sort] = now
		}
	}
	if len(c.open[e]) == 0 {
		delete(c.open, e)
	}
}

// Tick says what time it is: what has been wrong for long enough is told.
func (c *Cluster) Tick(now time.Time) {
	if !c.Synced() {
		return
	}
	var due []*entry
	for e := range c.open {
		due = append(due, e)
	}
	slices.SortFunc(due, func(a, b *entry) int { return compareRefs(a.now, b.now) })
	for _, e := range due {
		for i := range checks {
			k := &checks[i]
			since, ok := c.open[e][k.sort]
			if !ok {
				continue
			}
			text := k.wrong(c, e)
			switch {
			case text == "":
				delete(c.open[e], k.sort)
			case k.lasts(c, e, since, now):
				delete(c.open[e], k.sort)
				e.told[k.key(text)] = true
				c.tell(e.finding(k, text, since, now))
			}
		}
		if len(c.open[e]) == 0 {
			delete(c.open, e)
		}
	}
}

// Pending reports whether something may come to be told before long, if nothing happens:
// all that patience is for, and not what was deleted and has time to go.
func (c *Cluster) Pending() bool {
	for _, sorts := range c.open {
		for s := range sorts {
			if s != Stuck {
				return true
			}
		}
	}
	return !c.Synced()
}

func compareRefs(a, b *Version) int {
	x, y := a.place(), b.place()
	return cmp.Or(strings.Compare(x.group, y.group), strings.Compare(x.kind, y.kind),
		strings.Compare(x.namespace, y.namespace), strings.Compare(x.name, y.name))
}

func (e *entry) finding(k *check, text string, since, now time.Time) Finding {
	f := Finding{Sort: k.sort, Law: laws[k.sort], Object: e.now.ref(), Text: text, First: since, Last: now,
		Story: slices.Clone(e.lines)}
	if k.sort == Stuck {
		f.First = e.now.DeletionTimestamp.Time
	}
	if who := k.who(e); who != "" {
		f.Who = []string{who}
	}
	return f
}

func nobody(*entry) string { return "" }

// referrer is who wrote an object's owners: its maker, where nobody wrote them since.
func referrer(e *entry) string {
	for i := len(e.lines) - 1; i >= 0; i-- {
		if l := e.lines[i]; l.Did == "create" || slices.Contains([]string{"owners"}, l.Change) {
			return l.Who
		}
	}
	return e.now.maker()
}

// hold is a controller that had an object.
type hold struct {
	ref    metav1.OwnerReference
	labels map[string]string
	at     time.Time // until
	who    string    // took it from him
}
