// Package deployment is the Deployment controller: it keeps one ReplicaSet of its
// template, made, adopted or found again, and moves pods to it from those of former
// templates by scaling them. It claims and releases ReplicaSets by ControllerRef,
// never Pods (KIND-DEPLOY): those are their ReplicaSets' own.
//
// Read from the top: sync.go is one sync; revision.go finds the current ReplicaSet,
// create.go makes it; rolling.go and recreate.go are the two strategies, scale.go what
// happens when a Deployment changes its size; cleanup.go forgets old revisions,
// rollback.go goes back to one; status.go, progress.go and condition.go tell.
//
// The rules are those of Kubernetes v1.36.3, with exceptions that a comment names.
package deployment
