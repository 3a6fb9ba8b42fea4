// Package controllers is the table of this module's controllers. It contains the controllers of kube-controller-manager
// that own objects, collect them or read owners, each in its eras (before ControllerRef, in between, as proposed, and
// current). It also contains the garbage collector, the namespace controller, a kubelet, and the reaper that deleted as
// kubectl once did. Each cites the clauses of the rules of ownership that it follows.
//
// [Builtin] returns them all for a registry; [KubeControllerManager] returns their other names. The shared rules are in
// the internal packages ref (claim, adopt, release) and routing (which keys an event enqueues). Rules of Kubernetes' own
// controllers that the proposal does not state are cited as "RULES" with a section and number: see
// docs/inside/rules.md.
package controllers
