// Check of EXACT-14.

package law

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// observing checks EXACT-14: it records which generations of the owner a reconcile has read, and whether it looked at
// other objects before and after it read the newest one. A generation counts as worked from if the reconcile began with
// it, wrote it, or looked at another object after it had read it.
type observing struct {
	opSet
	j    *Judge
	work map[observer]observation
}

type observer struct {
	process string
	worker  int
}

type observation struct {
	first, newer  int64 // the generation that was worked from; a newer one that was read; 0 for none
	before, after bool  // other objects were read or written before, and after, newer was read
}

func newObserving(j *Judge) Check {
	return &observing{opSet: ops(sim.SyncStart, sim.SyncEnd, sim.Read, sim.Refusal, sim.Commit), j: j, work: map[observer]observation{}}
}

func (c *observing) Reset() { clear(c.work) }

func (c *observing) Digest(h *sim.Hash) {
	var sum uint64
	for o, n := range c.work { //detcheck:ordered a sum
		var one sim.Hash
		one.String(o.process)
		one.Word(uint64(o.worker))
		one.Word(uint64(n.first))
		one.Word(uint64(n.newer))
		one.Bool(n.before)
		one.Bool(n.after)
		sum += sim.Mix(uint64(one))
	}
	h.Word(sum)
}

func (c *observing) Record(r *sim.Record) {
	by := observer{r.Process, r.Worker}
	if r.Op == sim.SyncStart || r.Op == sim.SyncEnd {
		delete(c.work, by) // nothing is kept between reconciles, so that equal states have equal digests
		if saw := meta.Of(r.SawFor); r.Op == sim.SyncStart && saw != nil {
			c.work[by] = observation{first: saw.GetGeneration()}
		}
		return
	}
	n, working := c.work[by]
	switch after := meta.Of(r.After); {
	case !working || r.For.IsZero() || r.Object.Kind == "Event":
		return
	case r.Object.Kind != r.For.Kind:
		n.after, n.before = n.newer > 0, n.before || n.newer == 0
	case r.Object.Name != r.For.Name || r.Object.Namespace != r.For.Namespace || after == nil:
		return
	case r.Op == sim.Read && after.GetGeneration() > max(n.first, n.newer):
		n.newer, n.after = after.GetGeneration(), false
	case r.Op == sim.Commit:
		c.wrote(r, n)
		n.first = max(n.first, after.GetGeneration())
	}
	c.work[by] = n
}

func (c *observing) wrote(r *sim.Record, n observation) {
	w := &c.j.write
	if w.Actor == nil || w.Before == nil || n.newer == 0 { // without a newer generation there is nothing to confuse
		return
	}
	now := observed(r.After)
	if now == 0 || now == observed(r.Before) {
		return
	}
	c.j.Exercise()
	if now > n.first && now == n.newer && n.before && !n.after {
		c.j.Report(Informed, fmt.Sprintf("the status reports generation %d, but the reconcile worked from generation %d: it read "+
			"generation %d after everything else", now, n.first, now))
	}
}

// observed returns the largest observedGeneration in the status of an object and in its conditions, or 0.
func observed(object any) int64 {
	fields, is := object.(map[string]any)
	if u, unstructured := object.(*unstructured.Unstructured); unstructured {
		fields, is = u.Object, true
	}
	if !is {
		var err error
		if fields, err = runtime.DefaultUnstructuredConverter.ToUnstructured(object); err != nil {
			return 0
		}
	}
	largest, _, _ := unstructured.NestedInt64(fields, "status", "observedGeneration")
	conditions, _, _ := unstructured.NestedFieldNoCopy(fields, "status", "conditions")
	list, _ := conditions.([]any)
	for _, item := range list {
		if condition, is := item.(map[string]any); is {
			n, _, _ := unstructured.NestedInt64(condition, "observedGeneration")
			largest = max(largest, n)
		}
	}
	return largest
}
