// Package threelaws is the root of a simulation and conformance harness for Kubernetes object ownership. Several
// controllers use one simulated API server. Each controller may crash and restart. It has its own caches, which may be
// out of date. A source of choices decides the order of all steps. Each run is checked against the laws of ownership:
// take ownership, don't interfere, don't share.
//
// This package contains no code. Start with package scenarios/simtest (a controller in go test) or cli (a command with
// your own controllers). Package sim/host defines controllers, and fakeapi is the server. docs/inside/design.md
// explains the structure.
package threelaws
