package host

import "github.com/threelaws/threelaws/fakeapi"

// conflict answers a write with 409 and does not execute it.
var conflict = answer("conflict", FailedRequest{Code: 409})

// throttle answers a request with 429.
var throttle = answer("throttle", FailedRequest{Code: 429})

// failure answers a request with 500.
var failure = answer("error", FailedRequest{Code: 500})

// lost executes a write and answers 504.
var lost = answer("lost", FailedRequest{Code: 504, Commits: true})

// asker finds the first thread of a process that waits to have a request executed and for which f holds; nil
// for none.
func (p *Process) asker(f func(asker) bool) asker {
	for _, w := range p.workers {
		if w.state == asking && f(w) {
			return w
		}
		if w.crew != nil {
			if a := w.crew.asker(f); a != nil {
				return a
			}
		}
	}
	if p.engine != nil {
		return p.engine.asker(f)
	}
	return nil
}

// answer is a fault that answers a pending request of a process.
func answer(name string, f FailedRequest) *fault {
	hits := func(a asker) bool { return f.answers(a.request()) }
	return &fault{
		name:    name,
		strikes: func(p *Process) bool { return p.asker(hits) != nil },
		strike: func(p *Process) {
			var all []asker
			p.asker(func(a asker) bool {
				if hits(a) {
					all = append(all, a)
				}
				return false
			})
			a := all[p.cluster.world.Pick(len(all), "request")]
			p.cluster.fact(p, name, string(a.request().Verb)+" "+a.request().Name)
			a.executeFailing(&f)
		},
	}
}

// answers reports whether a server can give this answer to a request.
func (f *FailedRequest) answers(req *fakeapi.Request) bool {
	write := f.Code == 409 || f.Commits // only a write is answered so
	switch req.Verb {
	case fakeapi.Get, fakeapi.List:
		return !write
	case fakeapi.Delete, fakeapi.DeleteCollection:
		p := req.Delete.Preconditions
		return f.Code != 409 || p != nil && p.ResourceVersion != nil
	}
	return true
}
