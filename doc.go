// Package threelaws is the root of a simulation and conformance harness for Kubernetes object ownership. Several
// controllers work on one API server. Each has caches of its own, which may be out of date, and may crash and restart.
// One stream of choices decides the interleaving. The laws of ownership (take ownership, don't interfere, don't share)
// are values that judge the run.
//
// This package contains no code. Start with package scenarios/simtest (a controller in go test) or cli (a command with
// your own controllers). Package sim/host defines controllers, and fakeapi is the server. docs/inside/design.md
// explains how the parts fit together.
package threelaws
