// Package watch watches a running cluster, with lists and watches only, and reports what is wrong with its ownership.
//
// A [Cluster] is the known state. It receives each version of each object, deletions, and the time, and reports each
// problem once as a [Finding]. It does not use the network. A [Reader] feeds it: it discovers kinds, lists and watches
// them, and reconnects when a watch breaks off.
//
// # Who wrote
//
// A watch shows an object, but not who changed it. metadata.managedFields names the manager that wrote a field last.
// The writer of a change is thus the manager that has, in the new version, the fields that differ (writer.go).
// managedFields does not show who removed a field or deleted an object. Changes by an unknown writer are not reported.
//
// # What is not reported
//
// Problems that fix themselves are not reported: a reference to a missing owner stays until the garbage collector
// comes, an orphan until it is adopted. So a state must last for Options.Patience first. Changes that one program makes
// and undoes are not a fight. Changes by hand count as a fight only if they are too fast for a hand. Times of day, node
// and pod reports by kubelets and controllers, leases and events are ignored.
package watch
