package scenarios

// verbs is the table of verbs. A file holds the table that it was read with, and a step holds its verb. Only code that
// reads files uses this variable.
var verbs = []*Verb{
	// the user's
	verbControllers, verbManagers, verbInstall, verbDefine, verbApply, verbCreate, verbDelete, verbLabel, verbAnnotate, verbScale,
	verbPatch,
	// time
	verbSettle, verbRace, verbStep, verbAdvance,
	// faults and versions
	verbHold, verbRelease, verbCrash, verbRestart, verbFail, verbRelist, verbDuplicate, verbSwitch,
	verbDowngrade, verbMark,
	// looking
	verbOwners, verbGet, verbLaws, verbJudge, verbExpect, verbPredict, verbHash, verbDo, verbEnsure,
	// all schedules
	verbExplore, verbMutant, verbSchedule,
}

// Verbs lists all verbs in the order of the help: user, time, faults and versions, reading, exploring.
func Verbs() []*Verb { return verbs }

// FindVerb finds a verb by name; it returns nil if there is none.
func FindVerb(name string) *Verb { return verbNamed(verbs, name) }
