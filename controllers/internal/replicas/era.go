package replicas

// Era is a way of deciding which pods are a set's own.
type Era string

// The eras.
const (
	// Selector: every active pod that the selector matches (before ControllerRef).
	Selector Era = "selector"
	// Gated: ControllerRef, but only while the garbage collector is enabled, and
	// with the gaps that the proposal's checklist leaves open.
	Gated Era = "gated"
	// ControllerRef: the proposal in full, and nothing that came after it.
	ControllerRef Era = "controllerref"
	// Current: what Kubernetes 1.36 does. Beside the proposal, a sync waits until
	// its caches show what was written (ReplicaSets only: RULES D45, D50), creations
	// start slowly (RULES E58), deletion goes by cost, neighbours and age
	// (RULES E57), the status counts pods that are being deleted, and pods that are
	// not available yet are looked at again when they are.
	Current Era = "current"
)

// owned reports whether pods are the set's by ControllerRef, by all rules of the
// proposal.
func (g Era) owned() bool { return g == ControllerRef || g == Current }
