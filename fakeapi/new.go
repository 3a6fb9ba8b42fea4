package fakeapi

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// epoch is the creation time of what a new server holds.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// New returns an empty server with the built-in kinds and the namespaces
// "default" and "kube-system".
func New(opts Options) *Server {
	if opts.ManagedFields {
		return build(opts)
	}
	// Most servers begin alike and write few kinds: they share the tables of one
	// that is never written until they write their own.
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
	for _, name := range []string{"default", "kube-system"} {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if r, _ := s.Do(epoch, &Request{Verb: Create, Kind: namespaceKind, Object: ns}); r.Err != nil {
			panic("fakeapi: a new server refuses namespace " + name + ": " + r.Err.Error())
		}
	}
	s.token, s.text, s.pivot = new(token), nil, entry{}
	return s
}
