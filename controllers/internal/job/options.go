package job

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/threelaws/threelaws/controllers/ref"
	"github.com/threelaws/threelaws/controllers/routing"
)

// Kind is the kind that the controller syncs.
var Kind = batchv1.SchemeGroupVersion.WithKind("Job")

// tracking is the finalizer by which a Job keeps its pods until it has counted them.
const tracking = batchv1.JobTrackingFinalizer

// The times and numbers by which upstream works.
const (
	batch        = time.Second      // that an event waits for others before a sync
	firstBackoff = 10 * time.Second // before a failed pod is replaced; doubled by each failure
	maxBackoff   = 10 * time.Minute
	burst        = 500 // most pods that a sync creates, or deletes as too many
	maxUncounted = 500 // most uids that a status holds
)

// Era is a way of deciding which pods are a Job's own, and of counting them.
type Era string

// The eras. Those before Current know what has ended from the pods that are
// there.
const (
	// Selector: every pod that the selector matches, whoever made it (before
	// ControllerRef). An event goes to the oldest Job that matches.
	Selector Era = "selector"
	// Gated: the same, with what the proposal's checklist has ticked for Job: nothing
	// is done to pods while the Job is being deleted.
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

// Without names guards to leave out; see package mutants. The zero value keeps
// them all. Each guard is checked at one place.
type Without struct {
	Ref     ref.Without
	Routing routing.Without

	TakeOwned   bool // pods are created without a reference to the Job
	Tracking    bool // ... without the finalizer
	AdoptBare   bool // pods are adopted without the finalizer
	Shed        bool // the finalizer is never taken off again
	HoldDeleted bool // ... from the pods of a Job that is being deleted
	Orphans     bool // ... from pods that have lost their Job
	Thief       bool // it is taken off whatever controls the pod
	Adopted     bool // ... of a pod that was nobody's when it was read, though a Job has adopted it
	OwnCount    bool // every matching pod counts as the Job's own, whoever owns it
	Terminating bool // a Job that is being deleted creates and deletes pods
	VictimUID   bool // pods are written and deleted by name, whatever pod has it by now
	Wait        bool // a sync creates whatever is still expected
	Lag         bool // a sync begins though the caches do not show what it wrote
	Twice       bool // a pod whose finalizer was taken off is counted anew while the cache shows it with that
	Indexes     bool // pods are made for indexes that others run for
	Least       bool // of pods that are too many one more is deleted
	Surplus     bool // pods beyond what is left to complete run on
	Linger      bool // pods that are at work when the Job ends run on
	Late        bool // pods that were made after the Job had ended run on
	Early       bool // the Job ends while it waits to see what it made
	Suspend     bool // a suspended Job runs on
	Managed     bool // a Job that names another controller is synced all the same
	Ready       bool // the status counts every active pod as ready
	CountHeld   bool // pods are counted while the finalizer holds them, and again when it does not
	SharedCache bool // the cached Job is changed in place
}
