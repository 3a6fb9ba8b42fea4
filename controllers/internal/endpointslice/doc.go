// Package endpointslice is the EndpointSlice controller: it keeps, for each Service
// with a selector, slices that list the addresses of the Pods that it selects.
//
// It reads Pods and owns slices. Which slices are a Service's it goes by two labels
// and by the owner's uid (RULES L115); upstream deletes slices that have the labels
// and another owner, here they are left to the garbage collector. Names are made up
// by the server, so a tracker of what was written keeps a late cache from leading to
// a second slice.
//
// Hints by topology annotations, which weigh zones by their processors, are not
// computed; those by traffic distribution are.
package endpointslice

// Without names guards to leave out; see package mutants. The zero value keeps
// them all. Each guard is checked at one place.
type Without struct {
	TakeOwned   bool // slices are made without a reference to their Service
	OwnerUID    bool // slices of a former Service of that name are its own
	Stale       bool // a sync goes on although the cache does not show what was written
	Lost        bool // a slice that was written and is not shown is waited for, there or not
	Version     bool // slices are written whatever version they have by now
	Dying       bool // a slice that is being deleted is waited for
	Children    bool // slices that others change or delete wake nobody
	Terminating bool // slices are made for a Service that is being deleted
}
