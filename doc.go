// Package threelaws is the root of a simulation and conformance harness for Kubernetes object ownership. Controllers
// share an API server. Their caches may be stale, and they may crash and restart. A stream of choices decides the
// interleaving. The laws of ownership (take ownership, don't interfere, don't share) are checked in each run.
//
// This package contains no code. Start with package scenarios/simtest (test a controller in go test) or cli (build a
// command with your own controllers). Package sim/host defines controllers, and fakeapi is the server.
// docs/inside/design.md describes how the packages work together.
package threelaws
