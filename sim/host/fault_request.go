package host

import (
	"slices"

	"github.com/threelaws/threelaws/fakeapi"
)

// conflict is a write that is answered 409 without having been executed.
var conflict = answer("conflict", FailedRequest{Code: 409})

// throttle is a request that is answered 429.
var throttle = answer("throttle", FailedRequest{Code: 429})

// failure is a request that is answered 500.
var failure = answer("error", FailedRequest{Code: 500})

// lost is a write that is executed and answered 504.
var lost = answer("lost", FailedRequest{Code: 504, Commits: true})

// answer is a fault that answers a pending request of a process.
func answer(name string, f FailedRequest) *fault {
	hits := func(w *worker) bool { return w.state == asking && f.answers(w.req) }
	return &fault{
		name:    name,
		strikes: func(p *Process) bool { return slices.ContainsFunc(p.workers, hits) },
		strike: func(p *Process) {
			w := pick(p.cluster.world, p.workers, hits, "request")
			p.cluster.fact(p, name, string(w.req.Verb)+" "+w.req.Name)
			w.executeFailing(&f)
		},
	}
}

// answers reports whether a server can give this answer to a request.
func (f *FailedRequest) answers(req *fakeapi.Request) bool {
	write := f.Code == 409 || f.Commits // the answer is one to writes
	switch req.Verb {
	case fakeapi.Get, fakeapi.List:
		return !write
	case fakeapi.Delete, fakeapi.DeleteCollection:
		p := req.Delete.Preconditions
		return f.Code != 409 || p != nil && p.ResourceVersion != nil
	}
	return true
}
