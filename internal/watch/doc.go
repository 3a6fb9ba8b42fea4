// Package watch looks at a cluster that runs, with nothing but lists and watches, and
// says what is wrong with who owns what in it.
//
// A [Cluster] is what is known of it: it is told of each version of each object, of
// objects that are gone, and of the time, and hands over a [Finding] for each thing that
// is wrong, once. It knows no network. A [Reader] is what tells it: it asks which kinds
// there are, lists them, watches them, and comes back when a watch breaks off.
//
// # Who wrote
//
// A watch says what an object is, not who made it so. metadata.managedFields says which
// manager wrote a field last, so the writer of a change is the manager that has, in the new
// version, the fields that differ (writer.go). It says nothing of what was taken away, and
// nothing of who deleted an object. What nobody is known to have done nobody is accused of.
//
// # What is no finding
//
// What mends itself is none: a reference whose owner is gone is there until the collector
// comes, an orphan until it is adopted. So a state must last for Options.Patience before it
// is told. What one program does and undoes by itself is no fight, and what people do by
// hand is one only where no hand is as quick. Times of day, what kubelets and controllers
// report of nodes and pods, leases and events are not looked at.
package watch
