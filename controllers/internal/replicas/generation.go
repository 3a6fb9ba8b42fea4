package replicas

// Generation is a way of deciding which pods are a set's own.
type Generation string

// The generations.
const (
	// Selector: every active pod that the selector matches (before ControllerRef).
	Selector Generation = "selector"
	// Gated: ControllerRef, but only while the garbage collector is enabled, and
	// with the gaps that the proposal's checklist leaves open.
	Gated Generation = "gated"
	// ControllerRef: the proposal in full, and nothing that came after it.
	ControllerRef Generation = "controllerref"
	// Current: what Kubernetes 1.36 does. Beside the proposal, a sync waits until
	// its caches show what was written (ReplicaSets only: RULES D45, D50), creations
	// start slowly (RULES E58), deletion goes by cost, neighbours and age
	// (RULES E57), the status counts pods that are being deleted, and pods that are
	// not available yet are looked at again when they are.
	Current Generation = "current"
)

// owned reports whether pods are the set's by ControllerRef, by all rules of the
// proposal.
func (g Generation) owned() bool { return g == ControllerRef || g == Current }
