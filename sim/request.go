package sim

// Request is a request that a program sent to the world. Two runs of one schedule are compared by their
// requests.
type Request struct {
	Step    int     // the number of steps when it was noticed; filled in by [World.Request]
	Process string  // the process that sent it
	Digest  uint64  // of its whole content; equal content has equal digests in any encoding
	Content Content // immutable, and shared
}

// Content is the content of a request, in words.
type Content interface {
	// String names the request without its body: "create secrets default/web".
	String() string
	// Differences lists the fields in which it and another request differ, each with both values.
	Differences(other Content) []string
}

// Request folds a request into the run's hash and keeps it for the comparison of two runs. A world whose
// history forgets keeps none.
func (w *World) Request(r Request) {
	r.Step = w.steps
	w.hash.String(r.Process)
	w.hash.Word(r.Digest)
	if w.History.Forget == 0 {
		w.requests = append(w.requests, r)
	}
}

// Requests lists the requests that programs have sent so far, in canonical order.
func (w *World) Requests() []Request { return w.requests }
