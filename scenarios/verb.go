package scenarios

import (
	"strings"

	"github.com/threelaws/threelaws/internal/render"
)

// Verb is one verb of the script. The first fields are its documentation, which "help scenario VERB" prints.
type Verb struct {
	Name    string
	Summary string  // in one line
	Args    string  // "KIND/NAME [--cascade=background|foreground|orphan]"
	Detail  string  // what it does and prints
	Example string  // lines of a script
	Params  []Param // parameters, written key=value or --flag=value
	Min     int     // minimum number of bare words
	Max     int     // maximum number of bare words; negative for no limit
	Raw     bool    // key=value without "--" is a word, as for labels
	Listed  bool    // words may be lists with commas, as in a command's --controllers

	acts     bool // the step changes the world; in explored runs it is an action of the user
	sends    bool // the step sends manifests of sections
	installs bool // the step creates objects that exist from the start
	settles  bool // the step runs the world
	paces    bool // after it, the user's actions race
	judges   bool // the step selects the laws that count
	explores bool // the step runs the steps before it many times

	// expects returns the difference from the step's expectation, or "". It is nil for a verb without an expectation.
	expects func(r *Run, s *Step) string
	// check validates a step before anything runs. It is nil if the parser's checks are enough.
	check func(c *checker, s *Step) error
	// run performs the step.
	run func(r *Run, s *Step) error

	_ struct{}
}

// Param is one parameter of a verb.
type Param struct {
	Name    string
	Summary string
	Values  []string // the valid words; empty means any
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

// Explores reports whether the verb runs the steps before it many times. Such a step does not change the world.
func (v *Verb) Explores() bool { return v.explores }

// replayed reports whether explored runs include the verb's steps: the verb acts, settles, or checks.
func (v *Verb) replayed() bool {
	return v.acts || v.installs || v.judges || v.paces || v.settles || v.expects != nil
}

// verbNamed finds a verb in a table by name, or returns nil.
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
