// Package threelaws is the root of a simulation and conformance harness for
// Kubernetes object ownership: several controllers, with caches of their own
// that lag, crash and restart, work on one API server, and every order in which
// that can happen is one stream of choices. The laws that ownership must obey
// (take ownership, don't interfere, don't share) are values that judge what
// happened.
//
// There is nothing to import here. Start with package scenarios/simtest (a controller
// in go test) or cli (a command with controllers of your own); sim/host is where a
// controller plugs in, fakeapi is the server, and docs/inside/design.md tells how all fit.
package threelaws
