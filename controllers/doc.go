// Package controllers is the table of this module's controllers. It contains the controllers of kube-controller-manager
// that own objects, collect garbage, or read owner references. An era of a controller is its behavior in one period of
// Kubernetes: before ControllerRef (selector), in between (gated), as proposed (controllerref), and today (current).
// The package also contains a kubelet, and the reaper that deleted objects in kubectl 1.5. Comments cite the clauses of
// the ownership rules that a controller follows.
//
// [Builtin] returns all controllers for a registry. [KubeControllerManager] returns their names in
// kube-controller-manager. The shared rules are in the internal packages ref (claim, adopt, release) and routing (which
// keys an event enqueues). Some rules of Kubernetes' own controllers are not in the proposal. Comments cite these rules
// as "RULES" with a section and number: see docs/inside/rules.md.
package controllers
