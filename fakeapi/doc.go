// Package fakeapi is an in-memory Kubernetes API server. For everything that concerns ownership, it behaves like
// kube-apiserver v1.36: controller references, finalizers, deletion policies, optimistic concurrency, server-side apply
// and watches. A refusal has the real server's status code and message. If the server does not implement a request, it
// refuses the request with a message that names the missing part.
//
// The server uses no goroutine, clock, randomness or I/O. [Server.Do] takes the current time and a request, and returns
// the response and the changes.
//
// # Five names to know
//
//   - [New] makes a [Server] from [Options]; simulations use the zero value.
//     [Server.Fork] makes another Server that shares everything with the first, in constant time.
//   - [Server.Do] executes one [Request]: a [Verb], a kind, a name, and the options of
//     k8s.io/apimachinery that belong to the verb.
//   - [Response] is the answer. Its Err is a status error of apimachinery, so apierrors.IsConflict and similar
//     functions work.
//   - [Event] is one change to one object, as watchers receive it.
//   - [Kind] is a row of the table of served kinds. [Server.KindNamed] finds a kind by the names that
//     kubectl accepts ("rs"), and [Server.KindOf] the kind of an object. Creating a
//     CustomResourceDefinition adds kinds.
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
// The example of [Server.Do] is complete. Objects of built-in kinds are typed (k8s.io/api), and objects of CRDs are
// unstructured. Stored objects are immutable, and shared by pointer with every reader.
//
// # Where to go next
//
// Package fakeapi/httpapi serves a [Server] over HTTP, for kubectl and client-go. Package sim/host runs controllers
// against it. docs/evidence/fidelity.md lists what is served and what is refused, and how this was verified.
package fakeapi
