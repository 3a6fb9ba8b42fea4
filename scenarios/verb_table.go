package scenarios

// verbs is the table of verbs. A file holds the table it was read with, and a
// step its verb: only what reads files names the table.
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

// Verbs lists all verbs, in the order in which help shows them: the user's,
// time, faults and versions, looking, all schedules.
func Verbs() []*Verb { return verbs }

// FindVerb finds a verb by name, nil when there is none.
func FindVerb(name string) *Verb { return verbNamed(verbs, name) }
