// Package controllers is the table of the reference controllers. They are the controllers of kube-controller-manager
// that own objects, delete dependents, or read owner references. An era of a controller is its behavior in one period
// of Kubernetes: before ControllerRef (selector), in between (gated), as proposed (controllerref), and today (current).
// The subpackages kubelet and reaper are a kubelet, and the reaper that deleted objects in kubectl 1.5. Comments cite
// the clauses that a controller follows, such as ADOPT-4: see docs/evidence/clauses.md.
//
// [Builtin] returns all controllers for a registry. [KubeControllerManager] returns which of them start by default, and
// their other names. The shared rules are in the internal packages ref (claim, adopt, release) and routing (which keys
// an event enqueues). Comments cite the rules of Kubernetes' own controllers as "RULES" with a section and number: see
// docs/inside/rules.md.
package controllers
