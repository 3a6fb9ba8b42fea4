package law

import (
	"time"

	"github.com/threelaws/threelaws/sim"
)

// seen stores sets and shows them to the controller.
func (t *tape) seen(names ...string) []*thing {
	var out []*thing
	for _, n := range names {
		out = append(out, set(n, 0))
	}
	t.exist(out...)
	t.show("rs", out...)
	return out
}

var _ = tells([]story{
	{"WATCH-1", "the owner", kept, func(t *tape) {
		s := t.seen("a", "b")
		t.deliver("rs", nil, pod("p", s[0]), "default/a").Observed = []string{"default/a"}
	}},
	{"WATCH-1", "nobody", broken, func(t *tape) { s := t.seen("a"); t.deliver("rs", nil, pod("p", s[0])) }},
	{"WATCH-1", "everybody", broken, func(t *tape) {
		s := t.seen("a", "b")
		t.deliver("rs", nil, pod("p", s[0]), "default/a", "default/b")
	}},
	{"WATCH-1", "a recreated owner", broken, func(t *tape) {
		s := t.seen("a")
		t.deliver("rs", nil, pod("p", s[0].again()), "default/a")
	}},
	{"WATCH-1", "an owner of another kind, by name", broken, func(t *tape) {
		t.seen("a")
		t.deliver("rs", nil, pod("p", rc("a", 1)), "default/a")
	}},
	{"WATCH-1", "an owner of another kind", kept, func(t *tape) {
		t.seen("a")
		t.deliver("rs", nil, pod("p", rc("a", 1)))
	}},
	{"WATCH-2", "the owner's", kept, func(t *tape) {
		s := t.seen("a")
		p := pod("p", s[0])
		t.deliver("rs", p, nil, "default/a").Observed = []string{"default/a"}
	}},
	{"WATCH-2", "another's", broken, func(t *tape) {
		s := t.seen("a", "b")
		t.deliver("rs", nil, pod("p", s[0]), "default/a").Observed = []string{"default/b"}
	}},
	{"WATCH-3", "released: old owner and matches", kept, func(t *tape) {
		s := t.seen("a", "b")
		p := pod("p", s[0])
		t.deliver("rs", p, p.owned(), "default/a", "default/b")
	}},
	{"WATCH-3", "released: the old owner is not enqueued", broken, func(t *tape) {
		s := t.seen("a", "b")
		p := pod("p", s[0])
		t.deliver("rs", p, p.owned().labelled("db"))
	}},
	{"WATCH-3", "released: a matching owner is not enqueued", broken, func(t *tape) {
		s := t.seen("a", "b")
		p := pod("p", s[0])
		t.deliver("rs", p, p.owned(), "default/a")
	}},
	{"WATCH-3", "changed: both", kept, func(t *tape) {
		s := t.seen("a", "b")
		p := pod("p", s[0])
		t.deliver("rs", p, p.owned(controlledBy(s[1])), "default/a", "default/b")
	}},
	{"WATCH-4", "every match", kept, func(t *tape) {
		t.seen("a", "b")
		t.deliver("rs", nil, pod("p", nil), "default/a", "default/b")
	}},
	{"WATCH-4", "one match", broken, func(t *tape) {
		t.seen("a", "b")
		t.deliver("rs", nil, pod("p", nil), "default/a")
	}},
	{"WATCH-4", "expectations", broken, func(t *tape) {
		t.seen("a")
		t.deliver("rs", nil, pod("p", nil), "default/a").Observed = []string{"default/a"}
	}},
	{"WATCH-5", "nobody", kept, func(t *tape) { t.seen("a"); t.deliver("rs", pod("p", nil), nil) }},
	{"WATCH-5", "a match", broken, func(t *tape) { t.seen("a"); t.deliver("rs", pod("p", nil), nil, "default/a") }},
	{"WATCH-5", "expectations", broken, func(t *tape) {
		t.seen("a")
		t.deliver("rs", pod("p", nil), nil).Observed = []string{"default/a"}
	}},
	{"WATCH-6", "relabelled", kept, func(t *tape) {
		t.seen("a")
		p := pod("p", nil).labelled("db")
		t.deliver("rs", p, p.labelled("web"), "default/a")
	}},
	{"WATCH-6", "relabelled, nobody told", broken, func(t *tape) {
		t.seen("a")
		p := pod("p", nil).labelled("db")
		t.deliver("rs", p, p.labelled("web"))
	}},
	{"WATCH-6", "not relabelled", broken, func(t *tape) {
		t.seen("a")
		p := pod("p", nil)
		t.deliver("rs", p, p.as(func(o *thing) { o.Node = "n" }), "default/a")
	}},
	{"WATCH-7", "nobody waits", kept, func(t *tape) { t.settled() }},
	{"WATCH-7", "one waits", broken, func(t *tape) {
		t.add(sim.Record{Op: sim.Stuck, Process: "rs", Message: "default/a expects 1 creation"})
	}},
	{"WATCH-8", "its own kind", kept, func(t *tape) {
		s := t.seen("a")
		t.deliver("rs", nil, pod("p", s[0]), "default/a")
	}},
	{"WATCH-8", "another kind", broken, func(t *tape) {
		t.seen("a")
		t.deliver("rs", nil, pod("p", rc("b", 1)), "default/a")
	}},
	{"WATCH-8", "another owner's creation", broken, func(t *tape) {
		t.seen("a")
		p := pod("p", nil)
		p.Annotations = map[string]string{createdBy: `{"reference":{"kind":"ReplicationController","uid":"other"}}`}
		t.deliver("rs", nil, p, "default/a").Observed = []string{"default/a"}
	}},
})

var _ = tells([]story{
	{"WRITE-1", "one after the other", kept, func(t *tape) {
		s := t.seen("a")
		p := pod("p", s[0])
		t.sync("rs", s[0], func() { t.deliver("rs", nil, p, "default/a") })
		t.sync("rs", s[0], func() {})
		t.settled()
	}},
	{"WRITE-1", "two at once", broken, func(t *tape) {
		s := t.seen("a")
		t.start("rs", s[0])
		t.start("rs", s[0]).Worker = 1
	}},
	{"WRITE-1", "after a crash", kept, func(t *tape) {
		s := t.seen("a")
		t.start("rs", s[0])
		t.fault("rs", "crash")
		t.start("rs", s[0]).Incarnation = 1
	}},
	{"WRITE-1", "a change lost", broken, func(t *tape) {
		s := t.seen("a")
		t.sync("rs", s[0], func() { t.deliver("rs", nil, pod("p", s[0]), "default/a") })
		t.settled()
	}},
	{"WRITE-2", "right in any order", kept, func(t *tape) { reordered(t, 1) }},
	{"WRITE-2", "wrong in another order", broken, func(t *tape) { reordered(t, 2) }},
	{"WRITE-3", "right after a restart", kept, func(t *tape) { restarted(t, 1) }},
	{"WRITE-3", "wrong after a restart", broken, func(t *tape) { restarted(t, 2) }},
	{"WRITE-4", "a live get", kept, func(t *tape) { s := t.seen("a"); t.read("rs", s[0], s[0]) }},
	{"WRITE-4", "a live list", broken, func(t *tape) {
		s := t.seen("a")
		t.add(sim.Record{Op: sim.Read, Process: "rs", Verb: "list", For: s[0].ref(), Object: sim.Ref{Kind: "Pod"}})
	}},
	{"WRITE-5", "nothing changed", kept, func(t *tape) { t.seen("a") }},
	{"WRITE-5", "changed in place", broken, func(t *tape) {
		t.add(sim.Record{Op: sim.Mutation, Process: "rs", Object: pod("p", nil).ref(), Message: "metadata.labels"})
	}},
	{"WRITE-6", "after the lists", kept, func(t *tape) {
		a := set("a", 1)
		t.exist(a)
		t.deliver("rs", nil, a).Initial = true
		t.fault("rs", "synced")
		t.commit("rs", "create", a, nil, pod("p", a))
	}},
	{"WRITE-6", "before the end of the lists", broken, func(t *tape) {
		a := set("a", 1)
		t.exist(a)
		t.deliver("rs", nil, a).Initial = true
		t.commit("rs", "create", a, nil, pod("p", a))
		t.fault("rs", "synced")
	}},
	{"WRITE-6", "in the midst of them", broken, func(t *tape) {
		a := set("a", 1)
		q := pod("q", a)
		t.exist(a, q)
		t.deliver("rs", nil, a).Initial = true
		t.refuse("rs", "create", a, pod("p", a), nil, 409, "already exists")
		t.deliver("rs", nil, q, "default/a").Initial = true
	}},
	{"WRITE-7", "right though others act", kept, func(t *tape) { meddled(t, 0) }},
	{"WRITE-7", "wrong when others act", broken, func(t *tape) { meddled(t, 1) }},
	{"WRITE-8", "retried", kept, func(t *tape) {
		s := t.seen("a")
		t.start("rs", s[0])
		t.end("rs", s[0], "timeout")
		t.at += 5e6
		t.start("rs", s[0])
		t.end("rs", s[0], "")
		t.settled()
	}},
	{"WRITE-8", "lost", broken, func(t *tape) {
		s := t.seen("a")
		t.start("rs", s[0])
		t.end("rs", s[0], "timeout")
		t.settled()
	}},
	{"WRITE-9", "skipped", kept, func(t *tape) { s := t.seen("a"); p := pod("p", s[0]); t.deliver("rs", p, p) }},
	{"WRITE-9", "synced", broken, func(t *tape) {
		s := t.seen("a")
		p := pod("p", s[0])
		t.deliver("rs", p, p, "default/a")
	}},
})

// reordered records that a process receives a pod before an older change of its set.
func reordered(t *tape, replicas int) {
	a := set("a", replicas)
	p := pod("p", a)
	t.exist(a, p)
	t.deliver("rs", nil, p).Version = 2
	t.deliver("rs", nil, a, "default/a").Version = 1
	t.sync("rs", a, func() {})
	t.settled()
}

func restarted(t *tape, replicas int) {
	a := set("a", replicas)
	t.exist(a, pod("p", a))
	t.fault("rs", "crash")
	t.fault("rs", "restart").Incarnation = 1
	t.settled()
}

// meddled records that the user deletes the only pod of a set.
func meddled(t *tape, replicas int) {
	a := set("a", replicas)
	p := pod("p", a)
	t.exist(a, p)
	t.user(p, nil)
	t.settled()
}

// replaces records that a vault's controller deletes a failed Pod.
func (t *tape) replaces(v *thing, node string) {
	p := pod("p", v).on(node)
	failed := p.as(func(o *thing) { o.Failed = true })
	t.user(nil, failed)
	t.show("vault", failed)
	t.sync("vault", v, func() { t.commit("vault", "delete", v, failed, nil) })
}

// Stories of a vault with failed Pods.
var _ = tells([]story{
	{"WRITE-8", "what fails again is replaced after a second", kept, func(t *tape) {
		v := t.vault()
		t.show("vault", v)
		t.replaces(v, "a")
		t.at += time.Second
		t.replaces(v, "a")
	}},
	{"WRITE-8", "what fails again is replaced at once", broken, func(t *tape) {
		v := t.vault()
		t.show("vault", v)
		t.replaces(v, "a")
		t.at += time.Second - 1
		t.replaces(v, "a")
	}},
	{"WRITE-8", "what fails elsewhere is replaced at once", kept, func(t *tape) {
		v := t.vault()
		t.show("vault", v)
		t.replaces(v, "a")
		t.replaces(v, "b")
	}},
	{"WRITE-8", "what fails again is replaced at once by a new life", kept, func(t *tape) {
		v := t.vault()
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
})

// Stories of a key whose reconcile always fails.
var _ = tells([]story{
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
	{"WRITE-8", "waits a minute each time", kept, func(t *tape) { // a constant delay, but no hot loop
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
			t.appears("rs", p, "default/a")
			t.fails(a, 0)
			t.shows("rs", p, nil, "default/a")
			t.fails(a, 0)
		}
		t.succeeds(a)
		t.settled()
	}},
})

// fails records that a reconcile of a set fails, and that the retry comes after the delay wait.
func (t *tape) fails(a *thing, wait time.Duration) {
	t.start("rs", a)
	t.end("rs", a, "etcdserver: request timed out")
	t.at += wait
}

func (t *tape) succeeds(a *thing) {
	t.start("rs", a)
	t.end("rs", a, "")
}
