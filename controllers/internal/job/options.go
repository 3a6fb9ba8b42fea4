package job

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/threelaws/threelaws/controllers/ref"
	"github.com/threelaws/threelaws/controllers/routing"
)

// Kind is the kind that the controller reconciles.
var Kind = batchv1.SchemeGroupVersion.WithKind("Job")

// tracking is the finalizer that keeps a Job's pods until they are counted.
const tracking = batchv1.JobTrackingFinalizer

// Upstream's times and limits.
const (
	batch        = time.Second      // the delay of an event, to batch it with others
	firstBackoff = 10 * time.Second // before a failed pod is replaced; each failure doubles it
	maxBackoff   = 10 * time.Minute
	burst        = 500 // the most pods that a reconcile creates, or deletes as surplus
	maxUncounted = 500 // the most uids in a status
)

// Era decides which pods a Job owns, and how it counts them.
type Era string

// The eras. Those before Current count the ended pods that still exist.
const (
	// Selector: every matching pod, whoever created it (before ControllerRef). An event goes to the oldest Job that
	// matches.
	Selector Era = "selector"
	// Gated: the same, with the items that the proposal's checklist ticks for Job: a terminating Job leaves its pods
	// alone.
	Gated Era = "gated"
	// ControllerRef: the proposal in full.
	ControllerRef Era = "controllerref"
	// Current is the controller of Kubernetes 1.36.
	Current Era = "current"
)

// Options choose a controller.
type Options struct {
	Era     Era
	Without Without
}

// Without names guards to disable; see package mutants. The zero value keeps all. One place in the code checks each
// guard.
type Without struct {
	Ref     ref.Without
	Routing routing.Without

	TakeOwned   bool // create pods without a reference to the Job
	Tracking    bool // ... without the finalizer
	AdoptBare   bool // adopt pods without the finalizer
	Shed        bool // never remove the finalizer
	HoldDeleted bool // ... from the pods of a terminating Job
	Orphans     bool // ... from pods that have lost their Job
	Thief       bool // remove it whatever controls the pod
	Adopted     bool // ... from a pod that was ownerless when read, although a Job has adopted it
	OwnCount    bool // every matching pod counts as the Job's own
	Terminating bool // a terminating Job creates and deletes pods
	VictimUID   bool // write and delete pods by name, whichever pod has it now
	Wait        bool // create pods despite pending expectations
	Lag         bool // reconcile although the caches do not show earlier writes
	Twice       bool // count a pod again while the cache still shows its finalizer
	Indexes     bool // create pods for indexes that already have one
	Least       bool // delete one pod more than the surplus
	Surplus     bool // keep pods beyond the remaining completions
	Linger      bool // keep pods that run when the Job ends
	Late        bool // keep pods that were created after the Job had ended
	Early       bool // end the Job while it waits to see its creations
	Suspend     bool // a suspended Job runs on
	Managed     bool // a Job that names another controller is synced all the same
	Ready       bool // the status counts every active pod as ready
	CountHeld   bool // pods are counted while the finalizer holds them, and again when it does not
	SharedCache bool // the cached Job is changed in place
}
