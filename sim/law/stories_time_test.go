package law

import (
	"time"

	"github.com/threelaws/threelaws/sim"
)

// timing is a subject that deletes Runs so many minutes after they have failed as there are
// Threads to them.
func timing() Actor {
	stays := func(r *thing, now time.Time) string {
		switch {
		case r.Kind != "Run" || !r.Failed:
			return "it goes on"
		case now.Before(sim.Epoch.Add(time.Duration(r.Threads) * time.Minute)):
			return "its time is not over"
		}
		return ""
	}
	return Actor{Process: "ttl", Controller: "ttl", Contract: Contract{Profile: Upstream, Invariants: []*Invariant{
		{ID: "TTL-1", When: AtDelete | WhenSettled, Check: func(f *Facts) string {
			if f.Before != nil {
				return stays(f.Before.(*thing), f.Now)
			}
			if f.Forever {
				f.Now = f.Now.Add(time.Hour)
			}
			for _, r := range f.All("Run") {
				if stays(r.(*thing), f.Now) == "" {
					return "run/" + r.(*thing).Name + " is still there"
				}
			}
			return ""
		}}}}}
}

// failed is a Run that goes after so many minutes.
func failed(minutes int) *thing {
	r := object("Run", "r")
	r.Failed, r.Threads = true, minutes
	return r
}

var timeStories = []story{
	{"TTL-1", "its time is over", kept, func(t *tape) {
		r := failed(1)
		t.exist(r)
		t.at += time.Minute
		t.commit("ttl", "delete", nil, r, nil)
	}},
	{"TTL-1", "its time is not over", broken, func(t *tape) {
		r := failed(1)
		t.exist(r)
		t.at += 59 * time.Second
		t.commit("ttl", "delete", nil, r, nil)
	}},
	{"TTL-1", "it waits for its finalizers, before its time is over", broken, func(t *tape) {
		r := failed(1)
		t.exist(r)
		t.commit("ttl", "delete", nil, r, r.dying("example.com/foreign"))
	}},
	{"TTL-1", "it goes on", broken, func(t *tape) {
		r := object("Run", "r")
		t.exist(r)
		t.commit("ttl", "delete", nil, r, nil)
	}},
	{"TTL-1", "it was given more time since it was shown", committed, func(t *tape) {
		r := failed(0)
		more := r.as(func(r *thing) { r.Threads = 5 })
		t.exist(r)
		t.show("ttl", r)
		t.user(r, more)
		t.commit("ttl", "delete", nil, more, nil).Saw = value(r)
	}},
	{"TTL-1", "somebody else deletes it", kept, func(t *tape) {
		r := failed(1)
		t.exist(r)
		t.user(r, nil)
	}},
	{"TTL-1", "nobody waits for its time to be over", broken, func(t *tape) { t.leaves(failed(1), "", false) }},
	{"TTL-1", "its time will be over when the clock has cut it short", kept, func(t *tape) {
		t.leaves(failed(1), CutShort, false)
	}},
	{"TTL-1", "its time was over when the clock cut it short", broken, func(t *tape) {
		t.leaves(failed(0), CutShort, false)
	}},
	{"TTL-1", "it is left as its deletion is forbidden", kept, func(t *tape) {
		r := failed(0)
		t.exist(r)
		t.show("ttl", r)
		for range 3 {
			t.start("ttl", r)
			t.refuse("ttl", "delete", r, r, r, 403, "no permission")
			t.end("ttl", r, "no permission")
			t.at += 5e6
		}
		t.settled()
	}},
	{"TTL-1", "nothing is to go", kept, func(t *tape) { t.leaves(object("Run", "r"), "", false) }},
	{"TTL-1", "it is left while its controller is down", kept, func(t *tape) { t.leaves(failed(1), "", true) }},
}

// leaves comes to rest with an object still there.
func (t *tape) leaves(r *thing, reason string, down bool) {
	t.exist(r)
	t.show("ttl", r)
	if down {
		t.fault("ttl", "crash")
	}
	t.settled().Reason = reason
}
