// Package namespace is the namespace controller: it empties a namespace that is
// being deleted, and then lets it go by taking the finalizer "kubernetes" off
// its spec (RULES L111).
//
// It reads everything from the server. Pods go first, and alone: while one is
// left, what it may need to stop in good order stays (KEP-5080). What has
// finalizers is waited for; what has none and is there still is an error.
package namespace

// Without names guards to disable; see package mutants. The zero value keeps all. One place checks each guard.
type Without struct {
	PodsFirst   bool // everything is deleted at once
	PodsUnknown bool // ... when it is not known whether pods are left
	Waiting     bool // a namespace is let go although something in it is left
	Errors      bool // ... although it is not known what is
	Terminating bool // a namespace that nobody deletes is emptied, too
	Incarnation bool // a namespace that took the name meanwhile is let go instead
}
