package fakeapi

import (
	"sync"
	"time"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// epoch is the default creation time of the initial objects.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// New returns a server with the namespaces "default" and "kube-system", and the objects that opts.Start selects.
func New(opts Options) *Server {
	if opts.ManagedFields || opts.Start != (Start{}) {
		return build(opts)
	}
	// servers share the initial tables until they write, because most servers write few kinds
	s := *pristine()
	s.opts, s.token, s.tables = opts, new(token), append([]*table(nil), s.tables...)
	return &s
}

var pristine = sync.OnceValue(func() *Server { return build(Options{}) })

func build(opts Options) *Server {
	s := &Server{opts: opts, kinds: known, single: builtin, store: store{token: new(token), version: 1}}
	s.tables = make([]*table, len(builtin))
	for i, k := range builtin {
		s.tables[i] = newTable(k, s.token)
	}
	at := opts.Start.At
	if at.IsZero() {
		at = epoch
	}
	for _, obj := range opts.Start.objects() {
		req := &Request{Verb: Create, Kind: s.KindOf(obj), Namespace: metadata.Of(obj).GetNamespace(), Object: obj,
			UserAgent: "kube-apiserver"}
		if r, _ := s.Do(at, req); r.Err != nil {
			panic("fakeapi: a new server refuses " + req.Kind.GVK.Kind + " " + metadata.Of(obj).GetName() + ": " +
				r.Err.Error())
		}
	}
	s.token, s.text, s.pivot = new(token), nil, entry{}
	return s
}
