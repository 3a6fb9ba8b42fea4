package mutants

import (
	"github.com/threelaws/threelaws/controllers/internal/cronjob"
	"github.com/threelaws/threelaws/sim/host"
)

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
