package law

import (
	"time"

	"github.com/threelaws/threelaws/sim"
)

// replaces has a vault's controller delete a Pod that has failed.
func (t *tape) replaces(v *thing, node string) {
	p := pod("p", v).on(node)
	failed := p.as(func(o *thing) { o.Failed = true })
	t.user(nil, failed)
	t.show("vault", failed)
	t.sync("vault", v, func() { t.commit("vault", "delete", v, failed, nil) })
}

// replaceStories are of a vault whose Pods fail.
var replaceStories = []story{
	{"WRITE-8", "what fails again is replaced after a second", kept, func(t *tape) {
		v := object("Vault", "v")
		t.exist(v)
		t.show("vault", v)
		t.replaces(v, "a")
		t.at += time.Second
		t.replaces(v, "a")
	}},
	{"WRITE-8", "what fails again is replaced at once", broken, func(t *tape) {
		v := object("Vault", "v")
		t.exist(v)
		t.show("vault", v)
		t.replaces(v, "a")
		t.at += time.Second - 1
		t.replaces(v, "a")
	}},
	{"WRITE-8", "what fails elsewhere is replaced at once", kept, func(t *tape) {
		v := object("Vault", "v")
		t.exist(v)
		t.show("vault", v)
		t.replaces(v, "a")
		t.replaces(v, "b")
	}},
	{"WRITE-8", "what fails again is replaced at once by a new life", kept, func(t *tape) {
		v := object("Vault", "v")
		t.exist(v)
		t.show("vault", v)
		t.replaces(v, "a")
		t.fault("vault", "crash")
		n := len(t.records)
		t.add(sim.Record{Op: sim.FaultHit, Process: "vault", Verb: "restart"})
		t.show("vault", v)
		t.replaces(v, "a")
		for i := n; i < len(t.records); i++ {
			if t.records[i].Process == "vault" {
				t.records[i].Incarnation = 1
			}
		}
	}},
	{"WRITE-8", "replaced at once, for another reason that it was shown meanwhile", kept, func(t *tape) {
		v, lid := object("Vault", "v"), object("Lid", "l")
		t.exist(v, lid)
		t.show("vault", v)
		t.replaces(v, "a")
		p := pod("p", v).on("a").as(func(o *thing) { o.Failed = true })
		t.user(nil, p)
		t.show("vault", p)
		t.sync("vault", v, func() {
			t.show("vault", lid)
			t.commit("vault", "delete", v, p, nil)
		})
	}},
}

// retryStories are of one key that fails each time it is tried.
var retryStories = []story{
	{"WRITE-8", "waits twice as long each time, and at last as long as client-go ever does", kept, func(t *tape) {
		a := t.seen("a")[0]
		for wait := 5 * time.Millisecond; t.at < 4*time.Hour; wait = min(2*wait, 1000*time.Second) {
			t.fails(a, wait)
		}
		t.succeeds(a)
		t.settled()
	}},
	{"WRITE-8", "waits five milliseconds each time", broken, func(t *tape) {
		a := t.seen("a")[0]
		for range 20 {
			t.fails(a, 5*time.Millisecond)
		}
		t.succeeds(a)
		t.settled()
	}},
	{"WRITE-8", "waits a minute each time", kept, func(t *tape) { // long, if not ever longer: no hot loop
		a := t.seen("a")[0]
		for range 20 {
			t.fails(a, time.Minute)
		}
		t.succeeds(a)
		t.settled()
	}},
	{"WRITE-8", "waits five milliseconds each time, while another is done in between", broken, func(t *tape) {
		s := t.seen("a", "b")
		for range 20 {
			t.fails(s[0], 5*time.Millisecond)
			t.succeeds(s[1])
		}
		t.succeeds(s[0])
		t.settled()
	}},
	{"WRITE-8", "waits twice as long each time, while another is done in between", kept, func(t *tape) {
		s := t.seen("a", "b")
		for wait := 5 * time.Millisecond; t.at < time.Hour; wait *= 2 {
			t.fails(s[0], wait)
			t.succeeds(s[1])
		}
		t.succeeds(s[0])
		t.settled()
	}},
	{"WRITE-8", "waits five milliseconds, and is done between one failure and the next", kept, func(t *tape) {
		a := t.seen("a")[0]
		for range 20 {
			t.fails(a, 5*time.Millisecond)
			t.succeeds(a)
		}
		t.settled()
	}},
	{"WRITE-8", "does not wait, but each time an event has come", kept, func(t *tape) {
		a := t.seen("a")[0]
		for range 10 {
			p := pod("p", a)
			t.exist(p)
			t.deliver("rs", nil, p, "default/a")
			t.fails(a, 0)
			t.user(p, nil)
			t.deliver("rs", p, nil, "default/a")
			t.fails(a, 0)
		}
		t.succeeds(a)
		t.settled()
	}},
}

// fails has a set be synced in vain, and so much time pass until it is tried again.
func (t *tape) fails(a *thing, wait time.Duration) {
	t.start("rs", a)
	t.end("rs", a, "etcdserver: request timed out")
	t.at += wait
}

func (t *tape) succeeds(a *thing) {
	t.start("rs", a)
	t.end("rs", a, "")
}
