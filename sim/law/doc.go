// Package law holds the laws: values that judge a history. A law is a name, the
// sentence it enforces, where that sentence comes from, and a check that folds
// over records; it does not know how the history was made.
//
// A [Judge] holds a run against laws. It is a [sim.Observer] and keeps a
// [State] that is folded from records alone, so any other source of the same
// records can be judged too. For that the records must say:
//
//   - Commit: who (Process, Incarnation, Worker, For, SawFor), how (Verb,
//     Subresource, Guards), to what (Object, Before, After) and on what
//     knowledge (Saw; nil means that the object was never read in this sync).
//   - Refusal: the same without After; Code and Message as the server sent them.
//   - Read: Verb "get" or "list", Object, After; a get of nothing is a Refusal
//     with Code 404.
//   - Delivery: every informer event of a subject, Before and After as the
//     informer had and has them; Enqueued names every key that was asked for,
//     even one that was in the queue already, and not those asked for later
//     (AddAfter); Observed every key whose expectations were lowered.
//   - SyncStart, SyncEnd: For with the key's namespace and name, even where
//     there is no such object (UID ""); Message the error.
//   - FaultHit, with Process the process it hit: Verb "crash" and "restart"
//     (Incarnation: the one that ended, the one that began), "stop" (for good),
//     "hold" and "release" (Object.Kind: of which kind; "" for all), "relist",
//     "switch" (of generation), "synced" (every informer of this incarnation
//     has had its initial list); with Process "apiserver" "downgrade" and
//     "upgrade" (it drops the controller field in between). Others are ignored.
//   - Mutation, Stuck, Unsettled: Message. Fighting: Reason, see [CycleReason];
//     Message where it is no recurrence.
//   - Settled: everything delivered, nothing enabled. Laws of liveness are
//     judged here, of those whose own processes are neither down nor held.
//
// A source that has not all of this says so ([Judge.Evidence]); laws that need
// more are then not judged.
package law
