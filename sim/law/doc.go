// Package law judges histories of a cluster. A law is a value: the sentence that must
// hold, where that is said, and a check that is shown records, one after the other. It
// does not know how the history was made: by a simulated world, or from an audit log.
//
// Six names are enough to hold a run against the laws:
//
//   - [All] are the laws, each a [Law], in the order of the clause list.
//   - [Contract] says what may be expected of a controller: what it selects, how many
//     dependents an owner wants, and which of the laws apply (its [Profile]). An [Actor]
//     is a process that runs a controller under a Contract.
//   - [Judge] holds a run against laws. It is a [sim.Observer]: it sees each record
//     once, in order, and knows of the world what records told it.
//   - [Breach] is one breaking of one law: at which record, how, and of what [Strength].
//   - [Verdict] is what became of one law.
//
// # What a verdict says
//
// A breach is Informed where the actor broke the law against what it had itself been
// shown, and fails the run. It is Committed where the write was lawful for what the actor
// knew, but not for the state it landed on: a race that was lost, because the API has no
// precondition that would have stopped it, or none was sent. That fails a strict judge's
// run only.
//
// A law is not judged where the source of the records knows less than the law needs
// ([Law].Needs, [Judge].Evidence), as an audit log knows no deliveries: it is neither held
// nor broken then. One that was judged and never asked, because what it is about never
// came up, says nothing either.
//
// # A law of one's own
//
// A law is declared as those of this package are, and given to [NewJudge] with them:
//
//	keepSecrets := &law.Law{
//		ID: "OWN-1", Name: "keep-secrets", Category: law.Safety, Source: "our own rules",
//		Sentence: "No controller deletes a Secret that it does not own.",
//		Needs:    law.Commits | law.Reads,
//		New: law.On(func(j *law.Judge, r *sim.Record) {
//			w := j.Write()
//			if w.Actor == nil || r.Object.Kind != "Secret" || !w.Deletes {
//				return
//			}
//			j.Ask()
//			if !w.Mine {
//				j.Report(law.Informed, "deleted for "+w.For.String())
//			}
//		}, sim.Commit),
//	}
//
// A check reads the record that it is shown, what this one commit does ([Judge.Write])
// and what is stored before it ([Judge.State], which holds each [Object]). It says that something came up which
// could have broken the law (Ask), and that something did (Report). One that remembers
// is a [Check] of its own; [On] is for those that do not.
//
// # What records must say
//
// The judge's knowledge is folded from records alone, so any source of the same records
// can be judged. For that they must say:
//
//   - Commit: who (Process, Incarnation, Worker, For, SawFor), how (Verb,
//     Subresource, Guards), to what (Object, Before, After) and on what
//     knowledge (Saw; nil means that the object was never read in this sync).
//   - Refusal: the same without After; Code and Message as the server sent them.
//   - Read: Verb "get" or "list", Object, After; a get of nothing is a Refusal
//     with Code 404.
//   - Delivery: every informer event of a subject, Before and After as the
//     informer had and has them; Enqueued names every key that was asked for,
//     even one that was in the queue already, at once or for later (AddAfter);
//     Observed every key whose expectations were lowered.
//   - SyncStart, SyncEnd: For with the key's namespace and name, even where
//     there is no such object (UID ""); Message the error.
//   - FaultHit, with Process the process it hit: Verb "crash" and "restart"
//     (Incarnation: the one that ended, the one that began), "stop" (for good),
//     "hold" and "release" (Object.Kind: of which kind; "" for all), "relist",
//     "switch" (of era), "synced" (every informer of this incarnation
//     has had its initial list); with Process "apiserver" "downgrade" and
//     "upgrade" (it drops the controller field in between). Others are ignored.
//   - Mutation, Stuck, Unsettled: Message. Fighting: Reason, the records of the
//     cycle ("3,5"); Message where it is no recurrence.
//   - Settled: everything delivered, nothing enabled. Laws of liveness are
//     judged here, of those whose own processes are neither down nor held.
//
// A source that has not all of this says so ([Judge].Evidence).
//
// # An invariant
//
// What concerns one kind of controller alone, or one world, is an [Invariant]: an ID, a sentence, the moments at which it
// is asked, and a Check of [Facts]. One in a [Contract] is asked of its controller, and judged by what that had been shown
// as well; [Invariant.Law] makes a law of one for a world.
//
// # Which function answers which question
//
// Whoever mends a check that reports a right controller begins here:
//
//	what is stored?                                   State.Object, Named, Kind, Dependents   stored.go
//	who made an object?                               Object.maker                            stored.go
//	what does a write amount to?                      Write, by Write.fill                    write.go, write_fill.go
//	what had the actor read of the object?            Write.Saw, Write.SawOwner               write_fill.go
//	which sync is the write of?                       Write.counting, process.work            write.go, process.go
//	did it read its owner live, and what was that?    work.read, live, refuses                process_sync.go
//	what do its caches show?                          process.Cache                           process.go, internal/view
//	what did it know of an object, and since when?    view.Known: ByUID, ValueAt, VersionAt   process_learn.go
//	may it go by its cache or by an answer?           process.eitherWay, countsStill          process_doubt.go
//	how many dependents can it have counted?          work.fewest, work.most                  process.go
//	must an owner have settled?                       Judge.settled, Judge.survey             judge.go, census.go
//	who owns what at rest, and what is an orphan?     census                                  census.go
//	where does an owner reference lead?               stored.footing, reaches                 footing.go
//	whom should an event wake?                        route                                   routes.go
//	may it take a finalizer off?                      State.mayTakeOff                        check_finalizers.go
//	what does an orphaning deletion owe whom?         promises.find                           promise.go
//	what have others taken from an owner?             taken.from, taken.back                  taken.go
//	what has an owner had that is gone?               ever.had                                ever.go
//	when did an object go?                            lately.within                           lately.go
//	does the server forbid it?                        forbidden.more                          forbidden.go
//	which owners of a program have gone since a rest? parted                                  parted.go
//	what does a number in a status rest on?           State.guesses                           vague.go
//
// # Where to go next
//
// Package sim/trial runs a world to its end under the laws, so that none is left out. In
// this one the files laws_*.go are the laws as one reads them, and check_*.go their
// checks, a file for each family of clauses. Beneath stand the questions that several of
// them ask (census.go, footing.go, routes.go), and beneath those what the records add up
// to: state.go and stored.go for the cluster, process*.go for what each process was shown
// and is doing, write*.go for one commit, promise.go and taken.go for what is owed.
// judge.go feeds the one to the other.
package law
