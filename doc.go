// Package threelaws is the root of a simulation and conformance harness for
// Kubernetes object ownership: several controllers, with caches of their own
// that lag, crash and restart, work on one API server, and every order in which
// that can happen is one stream of choices. The laws that ownership must obey
// (take ownership, don't interfere, don't share) are values that judge what
// happened.
//
// There is nothing to import here. Start with packages sim (the kernel), fakeapi
// (the server), sim/host (where a controller plugs in) and scenarios (the file
// format); docs/design.md tells how they fit.
package threelaws
