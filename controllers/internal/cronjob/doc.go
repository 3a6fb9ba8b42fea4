// Package cronjob is the CronJob controller in three eras: two that poll, and the current one, which watches.
//
// A CronJob adopts and releases nothing (RULES J87): a Job is its own if the Job's ControllerRef says so. Its status
// lists the Jobs that it started and that still run. A Job's name contains its scheduled minute, so none is started
// twice (EXACT-3).
package cronjob

import "github.com/threelaws/threelaws/controllers/routing"

// Without names guards to disable; see package mutants. The zero value keeps all. One place in the code checks each
// guard.
type Without struct {
	Routing routing.Without

	TakeOwned   bool // start Jobs without a reference to their CronJob
	ChildUID    bool // own Jobs of any controller of the CronJob's name (RULES J88)
	ByReference bool // own Jobs with the template's labels, not those that refer to it
	Name        bool // use server-generated names for Jobs
	Stranger    bool // treat any Job of the name as the one started before
	Victim      bool // replace a Job whoever owns it now
	Newest      bool // clean up the last of the ended Jobs, not the first
	Itself      bool // ... and the Job that is due itself, if the status does not list it yet
	Unread      bool // ... and one that the status does not list, as the cache shows it
	VictimUID   bool // delete Jobs by name, whichever Job has it now
	LiveChild   bool // treat a Job missing from the cache as gone
	LiveUID     bool // ... and another Job of its name as the same
	Missing     bool // ... and keep one that is gone in the active list
	Forgotten   bool // do not wait for a running Job that is not in that list
	Running     bool // nor for one that is in the list
	Suspended   bool // start Jobs while the CronJob is suspended
	Terminating bool // ... and while it is terminating
	History     bool // clean up finished Jobs while it is terminating (RULES J91)
}
