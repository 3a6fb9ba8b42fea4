// Package upstream has kube-apiserver's own rules about objects, from
// k8s.io/kubernetes v1.36.3, for a server of package fakeapi: how they are decoded and
// defaulted, what the registry's strategies make of them, and what validation refuses.
//
//	server := fakeapi.New(fakeapi.Options{Strategies: upstream.Strategies()})
//
// Package fakeapi has by hand what controllers meet in their lives, and needs nothing
// of k8s.io/kubernetes for it. Here is the rest, for whoever wants every rule of every
// field and can bear its weight. What these strategies do not hold is the
// server's in either case: admission, storage, subresources that are no updates,
// definitions that make kinds.
//
// The module is one of its own, as k8s.io/kubernetes needs replacements in go.mod that
// a library may not force on its users.
package upstream
