package law

import "time"

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
