// Package deployment is the Deployment controller. It keeps one ReplicaSet of its template: created, adopted or found
// again. It moves pods to it from the ReplicaSets of earlier templates by scaling. It claims and releases ReplicaSets
// by ControllerRef, never Pods (KIND-DEPLOY), which belong to their ReplicaSets.
//
// Read from the top: sync.go is one reconcile. revision.go finds the current ReplicaSet and create.go creates it.
// rolling.go and recreate.go are the two strategies, and scale.go handles a changed size. cleanup.go deletes old
// revisions, and rollback.go goes back to one. status.go, progress.go and condition.go report.
//
// The rules are those of Kubernetes v1.36.3; comments name the exceptions.
package deployment
