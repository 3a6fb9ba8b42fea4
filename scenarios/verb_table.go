package scenarios

var verbs = []*Verb{
	verbControllers, verbDefine, verbApply, verbCreate, verbDelete, verbLabel, verbAnnotate, verbScale, verbPatch,
	verbSettle, verbRace, verbStep, verbAdvance,
	verbHold, verbRelease, verbCrash, verbRestart, verbFail, verbRelist, verbDuplicate, verbSwitch, verbDowngrade, verbMark,
	verbOwners, verbGet, verbLaws, verbJudge, verbExpect, verbHash, verbDo, verbEnsure,
	verbExplore, verbMutant, verbSchedule,
}

// Verbs lists all verbs, in the order in which help shows them: the user's,
// time, faults and versions, looking, all schedules.
func Verbs() []*Verb { return verbs }

// FindVerb finds a verb by name, nil when there is none.
func FindVerb(name string) *Verb { return verbNamed(verbs, name) }
