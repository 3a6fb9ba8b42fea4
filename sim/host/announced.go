package host

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

func (g *hosted) Begin(number int64, controller, key string) {
	taken := map[int]bool{}
	for _, a := range g.reconciles { //detcheck:ordered only collects into a set
		taken[a.worker] = true
	}
	worker := 1 // 0 stands for writes outside of announced reconciles
	for taken[worker] {
		worker++
	}
	g.reconciles[number] = &announced{worker: worker, controller: controller, key: key,
		since: g.process.cluster.world.History.Len(), seen: map[seenKey]any{}}
}

func (g *hosted) Saw(number int64, kind schema.GroupKind, objects []Cached) {
	a, k := g.reconciles[number], g.kindOf(kind)
	if a == nil || k == nil {
		return
	}
	for _, o := range objects {
		key := sim.Ref{Namespace: o.Namespace, Name: o.Name}.Key()
		obj, is := g.versionOf(k, key, o.Version)
		if !is {
			continue
		}
		a.seen[seenKey{k, key}] = obj
		if len(objects) == 1 {
			g.identify(a, k, key, obj)
		}
	}
}

func (g *hosted) kindOf(kind schema.GroupKind) *fakeapi.Kind {
	for _, k := range g.process.cluster.server.Kinds() {
		if k.GVK.GroupKind() == kind {
			return g.process.cluster.met(k)
		}
	}
	return nil
}

// versionOf returns the version of an object that a cache contained: nil if version is empty. It returns false if the
// process has not received such a version.
func (g *hosted) versionOf(k *fakeapi.Kind, key, version string) (any, bool) {
	if version == "" {
		return nil, true
	}
	past := g.observations(k).past[key]
	for i := len(past) - 1; i >= 0; i-- {
		if m, is := past[i].obj.(metav1.Object); is && m.GetResourceVersion() == version {
			return past[i].obj, true
		}
	}
	return nil, false
}

// identify records the start of a reconcile when the reconciled object becomes known. That is the first object with the
// name of the key that the reconcile reads. The kind is the same in all reconciles of a controller.
func (g *hosted) identify(a *announced, k *fakeapi.Kind, key string, obj any) {
	if a.known || key != a.key {
		return
	}
	if first := g.kindBy[a.controller]; first == nil {
		g.kindBy[a.controller] = k
	} else if first != k {
		return
	}
	if k.GVK.GroupKind() != g.process.controller.For.GroupKind() {
		return
	}
	a.known, a.owner = true, sim.Ref{Kind: k.GVK.Kind}
	a.owner.Namespace, a.owner.Name = splitKey(key)
	if m, err := meta.Accessor(obj); err == nil {
		a.saw, a.owner.UID = obj, string(m.GetUID())
	}
	r := sim.Record{Op: sim.SyncStart, Cause: g.last, Verb: "sync", Object: a.owner}
	g.process.stamp(&r)
	a.stamp(&r)
	a.start = g.process.cluster.world.Record(r).Index
}

func (g *hosted) End(number int64, retried bool, again time.Duration) {
	a := g.reconciles[number]
	delete(g.reconciles, number)
	if a == nil {
		return
	}
	if key := a.controller + " " + a.key; retried || again > 0 {
		g.later[key] = later{retried, again}
	} else {
		delete(g.later, key)
	}
	if !a.known {
		return
	}
	r := sim.Record{Op: sim.SyncEnd, Cause: a.start, Verb: "sync", Object: a.owner}
	g.process.stamp(&r)
	a.stamp(&r)
	g.process.cluster.world.Record(r)
}

// later says when a key is reconciled again without an event: it is retried with a growing delay, or after a fixed one.
type later struct {
	retried bool
	after   time.Duration
}

// Polls returns the longest time after which a program reconciles one of its keys again; 0 if it reconciles keys only after
// events. known is false if the program does not announce its reconciles, if it reconciles a key now, or if it retries one
// with a growing delay.
func (p *Process) Polls() (longest time.Duration, known bool) {
	if g, is := p.engine.(*hosted); is {
		return g.Polls()
	}
	return 0, false
}

func (g *hosted) Polls() (longest time.Duration, known bool) {
	if !g.process.controller.Announces || len(g.reconciles) > 0 {
		return 0, false
	}
	for _, l := range g.later { //detcheck:ordered a maximum
		if l.retried {
			return 0, false
		}
		longest = max(longest, l.after)
	}
	return longest, true
}

// saw returns the version of an object that the program had read when it sent the call.
func (g *hosted) saw(c *Call, k *fakeapi.Kind, namespace, name string) any {
	if c.announced != nil {
		if obj, is := c.announced.seen[seenKey{k, sim.Ref{Namespace: namespace, Name: name}.Key()}]; is {
			return obj
		}
	}
	return g.observations(k).saw(namespace, name, c)
}

func (g *hosted) told(c *Call, k *fakeapi.Kind, m metav1.Object) {
	if c.announced != nil {
		c.announced.seen[seenKey{k, keyOf(m)}] = m
		if c.Request.Verb == fakeapi.Get {
			g.identify(c.announced, k, keyOf(m), m)
		}
	}
	g.observations(k).remember(keyOf(m), observation{at: g.process.cluster.world.History.Len(), thread: c.Thread, obj: m})
}

func (g *hosted) toldAll(c *Call, k *fakeapi.Kind, items []runtime.Object) {
	if c.announced == nil {
		return
	}
	for _, o := range items {
		if m, is := o.(metav1.Object); is {
			c.announced.seen[seenKey{k, keyOf(m)}] = m
		}
	}
}
