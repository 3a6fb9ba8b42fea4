// Package law checks histories of a cluster against laws. A law is an invariant of ownership: a sentence that must
// hold, its source, and a check. The check sees the records of the history one after another. The history may come from
// a simulated world or from an audit log.
//
// These names are enough to check a run:
//
//   - [All] returns the laws, each a [Law], in the order of the clause list.
//   - [Contract] says what a controller promises: what it selects, how many dependents an owner wants, and which laws
//     apply (its [Profile]). An [Actor] is a process that runs a controller with a Contract.
//   - [Judge] checks a run. It is a [sim.Observer]: it sees each record once, in order, and knows the world only from
//     records.
//   - [Violation] is one violation of one law: its record, a text, and its [Strength].
//   - [Verdict] is the result for one law.
//
// # What a verdict says
//
// A violation is Informed if the actor had seen enough to know that the write was a violation. An Informed violation
// fails the run. A violation is Committed if the actor lost a race: the write was right for the state that the actor
// knew, but wrong for the stored state. A Committed violation fails the run only with [Judge].Strict.
//
// A law is not judged if the records lack a part of the evidence that the law needs ([Law].Needs, [Judge].Evidence).
// For example, an audit log has no deliveries. If no record exercised a law, a pass proves nothing.
//
// # Adding a law
//
// Declare a law as this package does, and pass it to [NewJudge] with the other laws:
//
//	keepSecrets := &law.Law{
//		ID: "OWN-1", Name: "keep-secrets", Source: "our own rules",
//		Sentence: "No controller deletes a Secret that it does not own.",
//		Needs:    law.Commits | law.Reads,
//		New: law.On(func(j *law.Judge, r *sim.Record) {
//			w := j.Write()
//			if w.Actor == nil || r.Object.Kind != "Secret" || !w.Deletes {
//				return
//			}
//			j.Exercise()
//			if !w.Mine {
//				j.Report(law.Informed, "deleted for "+w.For.String())
//			}
//		}, sim.Commit),
//	}
//
// A check reads its record, the judge's facts about the write ([Judge.Write]), and the state before the write
// ([Judge.State], which holds each [Object]). [Judge.Exercise] records that the law was exercised, and [Judge.Report]
// that it was violated. [On] is for checks without state. Other checks implement [Check].
//
// # What records must say
//
// The judge learns everything from records, so it can judge any source of such records. They must say:
//
//   - Commit: the actor (Process, Incarnation, Worker, For, SawFor), the request (Verb, Subresource, Guards), the
//     object (Object, Before, After) and the version that the actor had read (Saw; nil if it read none in this sync).
//   - Refusal: like Commit, but without After. Code and Message are as the server sent them.
//   - Read: Verb "get" or "list", Object, After. A get without a result is a Refusal with Code 404.
//   - Delivery: every informer event of an actor, Before and After as in the informer. Enqueued has every key that
//     was added to the queue, even if it was there already, at once or for later (AddAfter). Observed has every key
//     whose expectations were lowered.
//   - SyncStart, SyncEnd: For with the key's namespace and name. If no such object exists, its UID is "". Message is
//     the error of the reconcile.
//   - FaultHit: Process is the process that the fault hit. Verb is "crash" (Incarnation has ended), "restart"
//     (Incarnation has begun), "stop" (for good), "hold" or "release" (Object.Kind, or "" for all kinds), "relist",
//     "switch" (of era), or "synced" (every informer of Incarnation has had its initial list). If Process is
//     "apiserver", Verb is "downgrade" or "upgrade". Between the two, the server drops the controller field. The judge
//     ignores other verbs.
//   - Mutation, Stuck, Unsettled: Message. Fighting: Reason has the indexes of the records in the cycle ("3,5");
//     Message is set if no state recurs.
//   - Settled: every event is delivered. Unless Reason is [CutShort], no action is enabled. The laws about settled
//     worlds are checked here, for actors that are not down or paused.
//
// If the source of the records lacks some of these facts, set [Judge].Evidence to the evidence that it has.
//
// # Invariants
//
// An [Invariant] is a rule for one kind of controller, or for one world. It has an ID, a sentence, the moments at which
// it is checked, and a Check of [Facts]. An invariant in a [Contract] applies to the controller. It is checked in the
// stored state, and in the state that the controller had seen. [Invariant.Law] returns the law for an invariant of a
// world.
//
// # Which function answers which question
//
// If a check reports a right controller, begin here:
//
//	what is stored?                                    State.Object, Named, Kind, Dependents   state.go, state_objects.go
//	who created an object?                             Object.maker                            state_objects.go
//	is the violation of an invariant Informed?         Judge.knewBounds, process.unsure        check_invariant.go, check_exact_basis.go
//	and at a create or a delete of a dependent?        Judge.madeOnNothing, takenAlong         check_exact_basis.go
//	and at a write to another object?                  Judge.sparing                           check_invariant_other.go
//	what does a write mean?                            Write, by Write.fill                    write.go
//	what had the actor read of the object?             Write.Saw, Write.SawOwner               write.go
//	who wrote a field last?                            managedFields of the stored object; no check needs it
//	to which sync does the write belong?               Write.counting, process.work            write.go, process.go
//	what did the actor read of its owner live?         work.read, work.live, work.refuses      process.go, process_sync.go
//	what do the actor's caches show?                   process.Cache                           process.go, internal/view
//	what did the actor know of an object, since when?  Known.ByUID, ValueAt, VersionAt         internal/view, process_learn.go
//	may the actor use its cache or an answer?          process.eitherWay, countsStill          process_sync.go
//	what has the actor created and not received?       createdUnseen                           process_sync.go
//	how many dependents can the actor have counted?    work.fewest, work.most                  process.go
//	must an owner have settled?                        Judge.settled, Judge.survey             judge.go
//	who owns what once settled, what is an orphan?     settledCounts                           state_settled.go
//	where does an owner reference lead?                stored.refState, reaches                state_settled.go
//	which key should an event enqueue?                 route                                   check_watch.go
//	may the actor remove a finalizer?                  State.mayTakeOff                        check_finalizers.go
//	what must an orphaning deletion do?                orphanings.find                         state_past.go
//	which dependents have others deleted?              missingNamed.of, restores               state_past.go
//	how many dependents has an owner ever had?         everOwned.had                           state.go
//	can a number in a status be known?                 State.guesses                           state.go
//	when was an object deleted?                        recentlyDeleted.within                  state_past.go
//	what was deleted since the world last settled?     deletedSinceSettled                     state_past.go
//	does the server refuse creates for an owner?       forbidden.more                          state_past.go
//
// # Files
//
// Package sim/trial runs a world under all the laws. In this package, laws_*.go declare the laws, and check_*.go
// contain their checks, one file for each family of clauses. state*.go keep the state of the cluster, process*.go what
// each process has seen and is doing, and write*.go the facts about one write. fold.go updates them with each record;
// judge*.go call the checks.
package law
