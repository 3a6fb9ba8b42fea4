// Package statefulset is the StatefulSet controller: pods that are not
// interchangeable. Each has a number, its ordinal, and by it a name, labels, and
// claims of storage that outlive it. So a set claims by name what its selector
// matches, creates and deletes in order, and needs no expectations: a pod that it
// made and does not see yet it would make again under the same name, which the
// server refuses (RULES C44).
//
// A sync reads the set, its pods, claims and revisions from the caches. It adopts
// revisions and claims pods, finds or makes the revision of the template as it is,
// and then does what comes first of: making a pod that is missing, putting one
// right, deleting one that is beyond the ordinals wanted, replacing one that has an
// old template. At the end it writes the status and deletes old revisions.
package statefulset
