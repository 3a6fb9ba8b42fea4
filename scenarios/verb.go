package scenarios

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/render"
)

// Verb is one verb of the script. It documents itself: "help scenario VERB"
// prints these fields.
type Verb struct {
	Name    string
	Summary string  // one line
	Args    string  // "KIND/NAME [--cascade=background|foreground|orphan]"
	Detail  string  // how it behaves, what it prints
	Example string  // lines of a script
	Params  []Param // key=value and --flag=value it takes, in either spelling
	Min     int     // how many bare words at least
	Max     int     // and at most; negative for any number
	Raw     bool    // key=value without "--" is a word (labels)

	// acts: it changes the world, so that in explored runs it is offered as an
	// action of class user rather than done at once.
	acts bool
	// expects: it returns what is not as it should be, "" for nothing.
	expects func(r *Run, s *Step) string
	// paces: it says when the user's actions begin to race.
	paces bool
	// judges: it says which laws count.
	judges bool
	// explores: it runs the steps above it many times.
	explores bool
	// check looks at a step before anything runs; nil when its shape is all.
	check func(c *checker, s *Step) error
	// run performs the step.
	run func(r *Run, s *Step) error

	_ struct{}
}

// Param is one parameter of a verb.
type Param struct {
	Name    string
	Summary string
	Values  []string // the words it may be; empty for any
}

// Verbs lists all verbs, in the order in which help shows them: the user's,
// time, faults and versions, looking, all schedules.
func Verbs() []*Verb { return verbs }

var verbs []*Verb

// The table is filled here and not in its declaration because verbs that run
// whole files (explore, mutant) refer back to it.
func init() {
	verbs = []*Verb{
		verbControllers, verbDefine, verbApply, verbCreate, verbDelete, verbLabel, verbAnnotate, verbScale, verbPatch,
		verbSettle, verbRace, verbStep, verbAdvance,
		verbHold, verbRelease, verbCrash, verbRestart, verbFail, verbRelist, verbDuplicate, verbSwitch, verbDowngrade, verbMark,
		verbOwners, verbGet, verbLaws, verbJudge, verbExpect, verbHash, verbDo, verbEnsure,
		verbExplore, verbMutant, verbSchedule,
	}
}

// Help renders what there is to know of a verb.
func (v *Verb) Help() string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(v.Name+" "+v.Args) + "\n\n" + v.Summary + "\n\n" + v.Detail + "\n")
	if len(v.Params) > 0 {
		b.WriteString("\n")
	}
	t := render.Table{Indent: "  "}
	for _, p := range v.Params {
		t.Add(p.Name, p.Summary, strings.Join(p.Values, "|"))
	}
	b.WriteString(t.String() + "\nExample:\n")
	for line := range strings.Lines(v.Example) {
		b.WriteString("  " + strings.TrimSuffix(line, "\n") + "\n")
	}
	return b.String()
}

// Explores reports whether steps with this verb run the steps above them many
// times; they leave the world as it is.
func (v *Verb) Explores() bool { return v.explores }

// FindVerb finds a verb by name, nil when there is none.
func FindVerb(name string) *Verb {
	for _, v := range verbs {
		if v.Name == name {
			return v
		}
	}
	return nil
}

func verbNames() []string {
	names := make([]string, len(verbs))
	for i, v := range verbs {
		names[i] = v.Name
	}
	return names
}

func (v *Verb) param(name string) *Param {
	for i := range v.Params {
		if v.Params[i].Name == name {
			return &v.Params[i]
		}
	}
	return nil
}

func (v *Verb) paramNames() []string {
	names := make([]string, len(v.Params))
	for i, p := range v.Params {
		names[i] = p.Name
	}
	return names
}

// checkValues holds parameters against the words they may be.
func (s *Step) checkValues(v *Verb) error {
	for _, a := range s.Args {
		p := v.param(a.Key)
		if a.Key == "" || p == nil || len(p.Values) == 0 || slices.Contains(p.Values, a.Value) {
			continue
		}
		return s.wrong("%s: %s is not one of its values%s", a.Key, a.Value, suggest(a.Value, p.Values))
	}
	return nil
}
