package clusterwatch

import (
	"cmp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type check struct {
	sort Sort
	// wrong describes the problem, or returns "" if there is none.
	wrong func(c *Cluster, e *entry) string
	// lasts reports whether a problem has lasted long enough to be reported. since is when it began.
	lasts func(c *Cluster, e *entry, since, now time.Time) bool
	who   func(e *entry) string
}

// checks lists the checks. They run when an object or a related object changes, and while a problem lasts.
var checks = []check{
	{Stuck, (*Cluster).stuck, (*Cluster).overdue, nobody},
	{Orphan, (*Cluster).orphan, (*Cluster).patient, nobody},
	{LostOwner, (*Cluster).lost, (*Cluster).patient, referrer},
	{ForeignOwner, (*Cluster).foreign, (*Cluster).soon, referrer},
	{Takeover, (*Cluster).takeover, (*Cluster).soon, (*entry).taker},
}

// key identifies a finding. Findings with equal keys are reported once. The key of Stuck omits the text, which changes.
func (k *check) key(text string) string {
	if k.sort == Stuck {
		return string(k.sort)
	}
	return string(k.sort) + text
}

// lag is the maximal delay of the events of one watch after the events of another watch.
const lag = 2 * time.Second

func (c *Cluster) patient(_ *entry, since, now time.Time) bool { return now.Sub(since) >= c.Patience }

func (c *Cluster) soon(_ *entry, since, now time.Time) bool {
	return now.Sub(since) >= min(lag, c.Patience)
}

func (c *Cluster) overdue(e *entry, _, now time.Time) bool {
	return now.Sub(e.now.DeletionTimestamp.Time) >= c.Stuck
}

// suspect runs the checks for an object, and records when its problems began.
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

// Tick reports the problems that have lasted long enough at the time now. It does nothing until every kind is listed.
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

// Pending reports whether a problem may be reported later although no object changes, or a kind is not listed yet. It
// ignores terminating objects (Stuck).
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

// referrer returns the manager that wrote the owner references: the last one that created the object or changed only
// its owner references. If e.lines has neither, referrer returns the creator.
func referrer(e *entry) string {
	for i := len(e.lines) - 1; i >= 0; i-- {
		if l := e.lines[i]; l.Did == "create" || l.Change == "owners" {
			return l.Who
		}
	}
	return e.now.maker()
}

// hold records the controller that an object had before.
type hold struct {
	ref    metav1.OwnerReference
	labels map[string]string
	at     time.Time // when the controller lost the object
	who    string    // the manager that removed or replaced the controller
}

const mostNamed = 3

// stuck describes why a terminating object still exists, such as its finalizers.
func (c *Cluster) stuck(e *entry) string {
	o := e.now
	if !o.terminating() {
		return ""
	}
	var parts []string
	for _, f := range o.Finalizers {
		switch f {
		case "foregroundDeletion":
			parts = append(parts, "the finalizer foregroundDeletion, which the garbage collector removes when its "+
				"dependents are gone: "+c.blocking(e))
		case "orphan":
			parts = append(parts, "the finalizer orphan, which the garbage collector removes when it has removed the "+
				"owner from its dependents")
		default:
			parts = append(parts, "the finalizer "+f+", which the program that set it must remove")
		}
	}
	parts = append(parts, o.waits...)
	switch {
	case len(parts) > 0:
	case o.of.Kind == "Pod" && o.node != "":
		parts = append(parts, "the kubelet of node "+o.node)
	case o.of.Kind == "Namespace":
		parts = append(parts, "the namespace controller")
	default:
		parts = append(parts, "something that it does not name")
	}
	return "it was deleted and is still there; it waits for " + strings.Join(parts, ", and ")
}

// blocking lists the dependents that block an owner's deletion. It adds the finalizers of terminating dependents.
func (c *Cluster) blocking(e *entry) string {
	var names []string
	for d := range c.dependents[e.now.UID] {
		for _, r := range d.now.OwnerReferences {
			if r.UID != e.now.UID || r.BlockOwnerDeletion == nil || !*r.BlockOwnerDeletion {
				continue
			}
			name := ownerOf(d.now)
			if d.now.terminating() && len(d.now.Finalizers) > 0 {
				name += " (which has " + strings.Join(d.now.Finalizers, ", ") + ")"
			}
			names = append(names, name)
		}
	}
	slices.Sort(names)
	switch {
	case len(names) == 0:
		return "no known dependent blocks it"
	case len(names) > mostNamed:
		return strings.Join(names[:mostNamed], ", ") + " and others"
	}
	return strings.Join(names, ", ")
}
