package sim

import (
	"strings"
	"time"
)

// Op is the kind of event that a [Record] describes.
type Op uint8

const (
	Commit    Op = iota // a write was stored; one record for each object it changed
	Refusal             // a request was answered with an error; nothing was stored
	Read                // a read from the server, not from a cache, was answered
	Delivery            // one watch event, or one change found by a (re)list, reached one informer
	SyncStart           // a worker took a key and began to reconcile it
	SyncEnd             // the worker ended the reconcile; Message holds the error, if any
	FaultHit            // a fault, a paused or resumed watch, or a switch of era: Verb is its name
	Mutation            // an object in a process's cache was found changed in place (WRITE-5)
	Stuck               // the world has settled, and a process waits for an event that cannot come any more
	Settled             // the world has settled; if Reason is set, only the time limit was reached
	Fighting            // the world's abstract state recurred with a write in between, or grows without end
	Unsettled           // the run was stopped before the world settled
)

// Panicked is the prefix of Reason in a FaultHit record, if a panic of the process's program caused the crash.
const Panicked = "panic: "

// Record is one entry of the history. Op says which fields are set; other fields are zero. Objects are
// immutable versions, held by pointer. The kernel never looks inside them.
type Record struct {
	Index int           // position in the history
	Step  int           // number of the step in which the record was made, from 1
	At    time.Duration // virtual time since the start of the world
	Op    Op
	Cause int // Index of the record that made this one happen; -1 for none
	// Commit, Refusal, Read: the length of the history when the process sent the request; 0 if unknown
	Asked int

	Process     string // the actor: a process, "user", "faults"
	Era         string // the era of the process's controller, "" for none
	Incarnation int    // how many times the process had been restarted
	Worker      int    // index of the process's worker

	For    Ref // the object being reconciled, with the UID that the process saw; "" if it saw none
	SawFor any // For's object as the process saw it at SyncStart; nil if it saw none

	Verb        string // the verb of the request; FaultHit: the fault's name; otherwise a word such as "deliver"
	Subresource string // "status", "scale", ...
	Object      Ref    // the object of the request or event
	Before      any    // Commit: the version stored before, or nil. Delivery: the cached version before, or nil
	// Commit: the version stored now, or nil. Delivery: the cached version now, or nil. Read, Mutation: the object
	After   any
	Version uint64 // Commit, Delivery: the resource version of the change
	// the version of Object that the reconcile or program last read, from the server or a cache; nil if it read none
	Saw    any
	Guards Guards // preconditions of the request

	Code    int    // Refusal: HTTP status
	Reason  string // Refusal: metav1.StatusReason; Mutation: the path of the changed field; other Ops: details
	Message string // Refusal, SyncEnd: the error text; other Ops: an explanation

	Initial   bool // Delivery: part of the informer's initial list
	Tombstone bool // Delivery: a deletion learnt from a relist (DeletedFinalStateUnknown)
	// Delivery: keys that the event added to the process's queue, including keys that were already in it
	Enqueued []string
	Observed []string // Delivery: keys whose expectations the event lowered
	Lost     bool     // Commit: the response never reached the process
}

// Guards says which preconditions a write has.
type Guards struct {
	UID, ResourceVersion bool

	// Applies marks a server-side apply. An apply contains the wanted fields, for any object of that name. Therefore it
	// does not depend on what the process has read.
	Applies bool
}

// Stale reports whether the version before the write differs from the version that the process last read.
func (r *Record) Stale() bool {
	return r.Op == Commit && r.Saw != nil && r.Before != nil && r.Saw != r.Before
}

// History holds the records of a run, in order. A record does not change after the step that wrote it.
type History struct {
	Records []Record

	// Forget is the number of last records to keep, for long runs that are judged while they run. After each step, the
	// history holds at most 2*Forget records. Zero keeps all records. Record.Index continues to count.
	Forget int

	base int // Index of Records[0]
}

// Len returns the number of records written so far, including forgotten ones.
func (h *History) Len() int { return h.base + len(h.Records) }

// At returns the record with that index, or nil if it was forgotten.
func (h *History) At(index int) *Record {
	if index < h.base || index >= h.Len() {
		return nil
	}
	return &h.Records[index-h.base]
}

func (h *History) add(r Record) *Record {
	r.Index = h.Len()
	h.Records = append(h.Records, r)
	return &h.Records[len(h.Records)-1]
}

func (h *History) trim() {
	if h.Forget > 0 && len(h.Records) > 2*h.Forget {
		drop := len(h.Records) - h.Forget
		n := copy(h.Records, h.Records[drop:])
		clear(h.Records[n:])
		h.Records = h.Records[:n]
		h.base += drop
	}
}

// Request is a request that a program sent to the world. Two runs of one schedule are compared by their requests.
type Request struct {
	Step    int     // how many steps had been taken when the world received the request; set by [World.Request]
	Process string  // the process that sent the request
	Digest  uint64  // digest of the whole content; it does not depend on the encoding (JSON or protobuf)
	Content Content // immutable, and shared
}

// Content describes the content of a request in a readable form.
type Content interface {
	// String returns the request without its body: "create secrets default/web".
	String() string
	// Differences lists the fields in which the two requests differ, each with both values.
	Differences(other Content) []string
}

// Request folds a request into the run's hash and keeps it for the comparison of two runs. A world that forgets its
// history keeps no requests.
func (w *World) Request(r Request) {
	r.Step = w.steps
	w.hash.String(r.Process)
	w.hash.Word(r.Digest)
	if w.History.Forget == 0 {
		w.requests = append(w.requests, r)
	}
}

// Requests lists the requests of programs so far, in the order in which the world received them.
func (w *World) Requests() []Request { return w.requests }

// Ref names an API object. A recreated object has another UID. Kind is a name in the server's table of kinds, such as
// "Pod".
type Ref struct {
	Kind, Namespace, Name, UID string
}

// shortKinds are kubectl's short names of common kinds, except for Node and Pod.
var shortKinds = map[string]string{
	"ConfigMap": "cm", "CronJob": "cj", "CustomResourceDefinition": "crd", "DaemonSet": "ds",
	"Deployment": "deploy", "Endpoints": "ep", "Event": "ev", "HorizontalPodAutoscaler": "hpa",
	"Namespace": "ns", "Node": "node", "PersistentVolume": "pv", "PersistentVolumeClaim": "pvc", "Pod": "pod",
	"PodDisruptionBudget": "pdb", "PriorityClass": "pc", "ReplicaSet": "rs", "ReplicationController": "rc",
	"Service": "svc", "ServiceAccount": "sa", "StatefulSet": "sts", "StorageClass": "sc",
}

// Short returns kubectl's short name of a common kind: "rs" for ReplicaSet. Pod, Node and other kinds are written in
// lower case.
func Short(kind string) string {
	if s, ok := shortKinds[kind]; ok {
		return s
	}
	return strings.ToLower(kind)
}

// IsZero reports whether the reference names no object. If a process reconciles no kind of its own, [Record.For]
// contains only the key, as the name.
func (r Ref) IsZero() bool { return r.Kind == "" }

// String returns the reference as scenario files write it: "rs/web-a", or "prod/rs/web-a" outside the namespace
// "default".
func (r Ref) String() string {
	s := Short(r.Kind) + "/" + r.Name
	if r.Namespace != "" && r.Namespace != "default" {
		return r.Namespace + "/" + s
	}
	return s
}

// Key returns namespace/name, or the bare name of a cluster-scoped object.
func (r Ref) Key() string {
	if r.Namespace == "" {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}
