// Package fakeapi is an in-memory Kubernetes API server. For everything that concerns ownership, it behaves like
// kube-apiserver: controller references, finalizers, deletion policies, optimistic concurrency, server-side apply
// and watches. A refusal has the real server's status code and message. If the server does not implement a request, it
// refuses the request with a message that names the missing part.
//
// The server uses no goroutines, clock, random numbers or I/O. [Server.Do] takes the current time and a request. It
// returns the response and the changes.
//
// # Five names to know
//
//   - [New] makes a [Server] from [Options]; simulations use the zero value.
//     [Server.Fork] copies a Server in constant time. A later change of one copy does not change the other.
//   - [Server.Do] executes one [Request]: a [Verb], a kind, a name, and the options of
//     k8s.io/apimachinery that belong to the verb.
//   - [Response] is the answer. Its Err is a status error of apimachinery, so apierrors.IsConflict and similar
//     functions work.
//   - [Event] is one change to one object, as watchers receive it.
//   - [Kind] is a kind in one version, such as Deployment in apps/v1. [Server.KindNamed] finds a kind by a name
//     that kubectl accepts, such as "rs". [Server.KindOf] finds the kind of an object. Creating a
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
// unstructured. All readers get pointers to the same stored objects, so do not change them.
//
// # Where to go next
//
// Package fakeapi/httpapi serves a [Server] over HTTP, for kubectl and client-go. Package sim/host runs controllers
// against it. docs/evidence/fidelity.md lists what is served and what is refused, and how this was verified.
package fakeapi
