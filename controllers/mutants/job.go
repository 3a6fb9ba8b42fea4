package mutants

import (
	"github.com/threelaws/threelaws/controllers/internal/cronjob"
	"github.com/threelaws/threelaws/controllers/internal/job"
	"github.com/threelaws/threelaws/controllers/internal/ttl"
	"github.com/threelaws/threelaws/sim/host"
)

// worker is a Job controller without what f sets.
func worker(f func(w *job.Without)) build {
	o := job.Options{Era: job.Current}
	f(&o.Without)
	return build{func() host.Controller { return job.New(o) }, o.Without}
}

// cleaner is a controller of Jobs that have ended without what f sets.
func cleaner(f func(w *ttl.Without)) build {
	var w ttl.Without
	f(&w)
	return build{func() host.Controller { return ttl.New(w) }, w}
}

// jobMutants lack a guard of the Job controller (package job), or of the one that
// deletes Jobs that have ended (package ttl).
var jobMutants = []mutant{
	{"job/create-without-ref", "KIND-JOB", "LAW-1",
		"creates pods without a reference to itself",
		worker(func(w *job.Without) { w.TakeOwned = true })},
	{"job/create-untracked", "KIND-JOB", "EXACT-8",
		"creates pods without the finalizer, and never counts them",
		worker(func(w *job.Without) { w.Tracking = true })},
	{"job/adopt-untracked", "ADOPT-2", "EXACT-8",
		"adopts pods without putting the finalizer on, and never counts them",
		worker(func(w *job.Without) { w.AdoptBare = true })},
	{"job/skip-recheck", "ADOPT-4", "ADOPT-4",
		"adopts on the word of its cache, without reading itself live first",
		worker(func(w *job.Without) { w.Ref.LiveCheck = true })},
	{"job/count-unowned", "LAW-3", "LAW-3",
		"counts every matching pod as its own, whoever owns it",
		worker(func(w *job.Without) { w.OwnCount = true })},
	{"job/never-lets-go", "EXACT-6", "EXACT-6",
		"never takes the finalizer off its pods",
		worker(func(w *job.Without) { w.Shed = true })},
	{"job/holds-its-heirs", "EXACT-6", "EXACT-6",
		"keeps the pods of a Job that waits for them to go",
		worker(func(w *job.Without) { w.HoldDeleted = true })},
	{"job/forgets-orphans", "EXACT-6", "EXACT-6",
		"keeps the pods of a Job that is gone",
		worker(func(w *job.Without) { w.Orphans = true })},
	{"job/frees-the-others", "LAW-2", "LAW-2",
		"takes the finalizer off pods of a controller of another kind",
		worker(func(w *job.Without) { w.Thief = true })},
	{"job/frees-the-adopted", "EXACT-8", "EXACT-8",
		"takes the finalizer off a pod that was nobody's when it was read, whoever has it by now",
		worker(func(w *job.Without) { w.Adopted = true })},
	{"job/work-while-deleting", "ADOPT-3", "ADOPT-3",
		"creates and deletes pods while it is being deleted",
		worker(func(w *job.Without) { w.Terminating = true })},
	{"job/write-any-incarnation", "EXACT-4", "EXACT-4",
		"writes and deletes by name: a pod that took the place of the one it judged is freed and deleted unseen",
		worker(func(w *job.Without) { w.VictimUID = true })},
	{"job/no-wait", "EXACT-2", "EXACT-2",
		"creates again before it has seen what it created",
		worker(func(w *job.Without) { w.Wait, w.Lag = true, true })},
	{"job/counts-twice", "EXACT-12", "EXACT-12",
		"counts a pod again that it has counted and let go, while its cache shows it as it was",
		worker(func(w *job.Without) { w.Twice, w.Lag = true, true })},
	{"job/deletes-one-more", "EXACT-1", "EXACT-11",
		"deletes one pod more than there are too many",
		worker(func(w *job.Without) { w.Least = true })},
	{"job/index-twice", "EXACT-3", "EXACT-3",
		"makes a pod for an index that another runs for",
		worker(func(w *job.Without) { w.Indexes = true })},
	{"job/runs-surplus", "NOFIGHT-3", "NOFIGHT-3",
		"lets pods run on that are more than are left to succeed",
		worker(func(w *job.Without) { w.Surplus = true })},
	{"job/ended-is-ended", "NOFIGHT-3", "NOFIGHT-3",
		"lets pods run on that it made after its Job had ended, by an older list",
		worker(func(w *job.Without) { w.Late = true })},
	{"job/leaves-pods-at-work", "NOFIGHT-3", "EXACT-7",
		"ends and leaves pods at work",
		worker(func(w *job.Without) { w.Linger = true })},
	{"job/ends-early", "NOFIGHT-3", "NOFIGHT-3",
		"ends before it has seen what it created",
		worker(func(w *job.Without) { w.Early, w.Lag, w.Late = true, true, true })},
	{"job/ignores-suspend", "EXACT-2", "NOFIGHT-3",
		"runs pods for a Job that is suspended",
		worker(func(w *job.Without) { w.Suspend = true })},
	{"job/ignores-manager", "LAW-2", "EXACT-2",
		"runs pods for a Job that another controller is to run",
		worker(func(w *job.Without) { w.Managed = true })},
	{"job/status-counts-unready", "EXACT-8", "EXACT-8",
		"counts every active pod as ready in its status",
		worker(func(w *job.Without) { w.Ready = true })},
	{"job/counts-what-is-held", "EXACT-12", "EXACT-12",
		"counts pods that its finalizer still holds, and counts them again where that did not come off",
		worker(func(w *job.Without) { w.CountHeld = true })},
	{"job/mutate-cache", "WRITE-5", "WRITE-5",
		"changes the cached Job in place",
		worker(func(w *job.Without) { w.SharedCache = true })},

	{"ttl/any-incarnation", "EXACT-4", "EXACT-4",
		"deletes by name: a Job that took the place of the one that had ended is deleted unseen",
		cleaner(func(w *ttl.Without) { w.UID = true })},
	{"ttl/from-the-start", "TTL-1", "TTL-1",
		"counts the time for which a Job is kept from when it was made",
		cleaner(func(w *ttl.Without) { w.End = true })},
	{"ttl/at-once", "TTL-1", "TTL-1",
		"deletes a Job as soon as it has ended, however long it is to be kept",
		cleaner(func(w *ttl.Without) { w.Time = true })},
	{"ttl/looks-once", "TTL-1", "TTL-1",
		"looks at a Job when it ends and not again when its time is over",
		cleaner(func(w *ttl.Without) { w.Later = true })},
}

// ticker is a CronJob controller without what f sets.
func ticker(f func(w *cronjob.Without)) build {
	var w cronjob.Without
	f(&w)
	return build{func() host.Controller { return cronjob.New(w) }, w}
}

// cronJobMutants lack a guard of the CronJob controller.
var cronJobMutants = []mutant{
	{"cronjob/start-without-ref", "LAW-1", "LAW-1",
		"starts Jobs without a reference to their CronJob",
		ticker(func(w *cronjob.Without) { w.TakeOwned = true })},
	{"cronjob/children-by-name", "LAW-2", "LAW-2",
		"takes the Jobs of any controller of its name for its own, and cleans up after it",
		ticker(func(w *cronjob.Without) { w.ChildUID = true })},
	{"cronjob/children-by-labels", "KIND-CRON-1", "EXACT-8",
		"knows its Jobs by the labels of its template, and loses them when these change",
		ticker(func(w *cronjob.Without) { w.ByReference = true })},
	{"cronjob/names-at-random", "EXACT-3", "EXACT-3",
		"lets the server make up the names of Jobs, so that one can be started twice",
		ticker(func(w *cronjob.Without) { w.Name = true })},
	{"cronjob/counts-strangers", "LAW-3", "LAW-3",
		"takes a Job that has the name already for one that it started before",
		ticker(func(w *cronjob.Without) { w.Stranger = true })},
	{"cronjob/replaces-strangers", "LAW-2", "LAW-2",
		"replaces a Job that is its own no longer",
		ticker(func(w *cronjob.Without) { w.Victim = true })},
	{"cronjob/replaces-unread", "EXACT-5", "",
		"replaces a Job that its status does not know as the cache shows it, whosever it is by now",
		ticker(func(w *cronjob.Without) { w.Unread = true })},
	{"cronjob/forgets-the-newest", "EXACT-11", "EXACT-11",
		"cleans up the Jobs that have ended last, and keeps the first",
		ticker(func(w *cronjob.Without) { w.Newest = true })},
	{"cronjob/replaces-itself", "EXACT-11", "EXACT-11",
		"deletes the Job that is due, which it has started already, and starts it again",
		ticker(func(w *cronjob.Without) { w.Itself = true })},
	{"cronjob/delete-any-incarnation", "EXACT-4", "EXACT-4",
		"deletes by name: a Job that took the place of the one it judged is deleted unseen",
		ticker(func(w *cronjob.Without) { w.VictimUID = true })},
	{"cronjob/believes-its-cache", "EXACT-2", "EXACT-2",
		"takes a Job that its cache does not show for gone, and starts the next beside it",
		ticker(func(w *cronjob.Without) { w.LiveChild, w.Forgotten = true, true })},
	{"cronjob/namesake-runs", "LAW-3", "LAW-3",
		"takes a Job that has the name of one that is gone for that one",
		ticker(func(w *cronjob.Without) { w.LiveUID = true })},
	{"cronjob/keeps-the-missing", "LAW-3", "LAW-3",
		"keeps a Job that is gone among those that run",
		ticker(func(w *cronjob.Without) { w.Missing = true })},
	{"cronjob/forgets-what-runs", "EXACT-2", "EXACT-2",
		"starts another Job beside one that it had started when it was killed",
		ticker(func(w *cronjob.Without) { w.Forgotten = true })},
	{"cronjob/never-waits", "EXACT-2", "EXACT-2",
		"starts a Job while another runs, whatever the concurrency policy says",
		ticker(func(w *cronjob.Without) { w.Running = true })},
	{"cronjob/start-while-suspended", "EXACT-2", "EXACT-2",
		"starts Jobs while the CronJob is suspended",
		ticker(func(w *cronjob.Without) { w.Suspended = true })},
	{"cronjob/start-while-deleting", "ADOPT-3", "ADOPT-3",
		"starts Jobs while the CronJob is being deleted",
		ticker(func(w *cronjob.Without) { w.Terminating = true })},
	{"cronjob/clean-up-while-deleting", "ADOPT-3", "ADOPT-3",
		"cleans up finished Jobs while the CronJob is being deleted",
		ticker(func(w *cronjob.Without) { w.History = true })},
}
