// Package endpointslice is the EndpointSlice controller: for each Service with a selector it keeps slices with the
// addresses of the selected Pods.
//
// It reads Pods and owns slices. Two labels and the owner's uid say which slices are a Service's (RULES L115). Upstream
// deletes slices with these labels and another owner; here the garbage collector does. The server generates names, so a
// tracker of writes keeps a late cache from causing a second slice.
//
// Topology-aware hints by annotation, which weigh zones by CPU, are not computed; those by traffic distribution are.
package endpointslice

// Without names guards to disable; see package mutants. The zero value keeps all. One place in the code checks each
// guard.
type Without struct {
	TakeOwned   bool // create slices without a reference to their Service
	OwnerUID    bool // own slices of an earlier Service of that name
	Stale       bool // reconcile although the cache does not show earlier writes
	Lost        bool // wait for a written slice that is not shown, even if it is gone
	Version     bool // write slices whatever their current version
	Dying       bool // wait for a terminating slice
	Children    bool // ignore changes and deletions of slices by others
	Terminating bool // create slices for a terminating Service
}
