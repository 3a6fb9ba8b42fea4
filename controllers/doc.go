// Package controllers is the table of controllers that this module brings: those of
// kube-controller-manager that own objects, collect them or read who owns them, each in
// the eras it had (before ControllerRef, between, as proposed, and of today), the
// garbage collector, the namespace controller, a kubelet, and the reaper that deleted as
// kubectl once did. They are written to be read: each shows the rules of ownership it
// follows, by the clauses of the specification.
//
// [Builtin] are all of them, for a registry; [Aliases] are their other names. The
// rules that they share are in ref (claim, adopt, release) and routing (which event
// concerns whom), which whoever writes a controller for package sim/host may use as
// well. A rule that Kubernetes' own controllers follow but the proposal does not state
// is cited as "RULES" with a section and number: see docs/inside/rules.md.
package controllers
