package scenarios

import (
	"strings"

	"github.com/threelaws/threelaws/internal/render"
)

// Verb is a verb of scenario files. The first fields are its documentation, which "help scenario VERB" prints.
type Verb struct {
	Name    string
	Summary string  // one line
	Args    string  // "KIND/NAME [--cascade=background|foreground|orphan]"
	Detail  string  // what the verb does and prints
	Example string  // lines of a scenario file
	Params  []Param // the parameters, written as key=value or --flag=value
	Min     int     // the minimal number of [Step.Words]
	Max     int     // the maximal number of [Step.Words]; negative means no limit
	Raw     bool    // key=value is a word, for example a label; parameters need "--"
	Listed  bool    // words may be lists with commas, as in the flag --controllers

	acts     bool // the step changes the world; in explored runs it is an action of the user
	sends    bool // the step sends manifests of sections
	installs bool // the step creates objects that exist from the start
	settles  bool // the step runs the world
	paces    bool // later user actions race with the controllers, as after a settle
	judges   bool // the step sets which laws count
	explores bool // the step repeats the steps before it in many runs

	// expects returns how the result differs from the step's expectation, or "". It is nil for a verb that expects
	// nothing.
	expects func(r *Run, s *Step) string
	// check checks a step before anything is run. It is nil if the checks of the parser suffice.
	check func(c *checker, s *Step) error
	// run executes the step.
	run func(r *Run, s *Step) error

	_ struct{}
}

// Param is a parameter of a verb.
type Param struct {
	Name    string
	Summary string
	Values  []string // the valid values; empty means any value
}

// Help returns the help text of a verb.
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

// Explores reports whether the verb repeats the steps before it in many runs. Its steps do not change the world.
func (v *Verb) Explores() bool { return v.explores }

// replayed reports whether explored runs execute steps of the verb. They skip steps that only print or explore.
func (v *Verb) replayed() bool {
	return v.acts || v.installs || v.judges || v.paces || v.settles || v.expects != nil
}

func verbNamed(table []*Verb, name string) *Verb {
	for _, v := range table {
		if v.Name == name {
			return v
		}
	}
	return nil
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
