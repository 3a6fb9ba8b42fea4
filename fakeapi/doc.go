// Package fakeapi is an in-memory Kubernetes API server, faithful to kube-apiserver
// v1.36 in everything that ownership touches: one ControllerRef per object, finalizers,
// deletion policies, optimistic concurrency, server-side apply, watches, and the right
// status code and message for what is refused. What is not modelled is refused by name.
//
// It is pure: no goroutine, no clock, no randomness, no I/O. [Server.Do] takes the time
// of day and a request, and returns the response and the changes.
//
// # Five names to know
//
//   - [New] makes a [Server] of some [Options]; the zero value is what simulations use.
//     [Server.Fork] makes another that shares everything with it, in constant time.
//   - [Server.Do] executes one [Request]: a [Verb], a kind, a name, and the options of
//     k8s.io/apimachinery that belong to the verb.
//   - [Response] is the answer. Its Err is a status of apimachinery's own, so that
//     apierrors.IsConflict and the like hold of it.
//   - [Event] is one change to one object, as watchers receive it.
//   - [Kind] is a row of the table of what is served. [Server.KindNamed] finds one as
//     kubectl takes names ("rs"), [Server.KindOf] that of an object; creating a
//     CustomResourceDefinition adds to them.
//
// # One request
//
//	server := fakeapi.New(fakeapi.Options{})
//	resp, events := server.Do(now, &fakeapi.Request{
//		Verb: fakeapi.Create, Kind: server.KindNamed("cm"), Namespace: "default", Object: configMap,
//	})
//	if resp.Err != nil {
//		fmt.Println(resp.Code, resp.Err) // 422, and what is invalid
//	}
//
// The example of [Server.Do] is one that runs. Objects are typed (k8s.io/api), or
// unstructured where a definition defines them. What is stored is immutable, and shared
// by pointer with every reader.
//
// # Where to go next
//
// Package fakeapi/httpapi serves it over HTTP, for kubectl and client-go. Package
// sim/host runs controllers against one. docs/evidence/fidelity.md says what is served, what is
// refused, and how both are known.
package fakeapi
