// Package cronjob is the CronJob controller in three eras: two that poll,
// and today's, which watches.
//
// A CronJob adopts nothing and releases nothing (RULES J87): a Job is its own if
// the Job's ControllerRef says so. What it has started and what is still running
// it keeps in its status. The name of a Job is made of the minute it was
// scheduled for, so that it cannot be started twice (EXACT-3).
package cronjob

import "github.com/threelaws/threelaws/controllers/routing"

// Without names guards to leave out; see package mutants. The zero value keeps
// them all. Each guard is checked at one place.
type Without struct {
	Routing routing.Without

	TakeOwned   bool // Jobs are started without a reference to their CronJob
	ChildUID    bool // Jobs of any controller of the CronJob's name are its own (RULES J88)
	ByReference bool // Jobs are its own that have the template's labels, not those that refer to it
	Name        bool // Jobs have names that the server makes up
	Stranger    bool // a Job that has the name already is taken for one that was started before
	Victim      bool // a Job is replaced whosever it is by now
	Newest      bool // of Jobs that have ended the last are cleaned up, not the first
	Itself      bool // ... and the very Job that is due, where the status does not know that it was started
	Unread      bool // ... and one that the status does not know, as the cache shows it
	VictimUID   bool // Jobs are deleted by name, whichever Job has it by now
	LiveChild   bool // a Job that the cache does not show is taken for gone
	LiveUID     bool // ... and another of its name for it
	Missing     bool // ... and one that is gone stays in the list of those that run
	Forgotten   bool // a Job that runs and is not in that list is no reason to wait
	Running     bool // nor is one that is in the list
	Suspended   bool // Jobs are started while the CronJob is suspended
	Terminating bool // ... and while it is being deleted
	History     bool // finished Jobs are cleaned up while it is being deleted (RULES J91)
}
