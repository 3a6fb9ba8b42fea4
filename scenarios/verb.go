package scenarios

import (
	"strings"

	"github.com/threelaws/threelaws/internal/render"
)

// Verb is one verb of the script. Its fields are its documentation: "help scenario VERB" prints them.
type Verb struct {
	Name    string
	Summary string  // one line
	Args    string  // "KIND/NAME [--cascade=background|foreground|orphan]"
	Detail  string  // its behaviour and its output
	Example string  // lines of a script
	Params  []Param // its key=value and --flag=value parameters, in either spelling
	Min     int     // the least number of bare words
	Max     int     // the greatest number; negative for no limit
	Raw     bool    // key=value without "--" is a word (labels)
	Listed  bool    // commas separate words, as in a command's --controllers

	acts     bool // it changes the world; explored runs offer it as an action of class user
	sends    bool // it sends the manifests of sections
	installs bool // it sets up what exists from the start
	settles  bool // it runs the world
	paces    bool // from here on the user's actions race
	judges   bool // it selects the laws that count
	explores bool // it runs the steps above it many times

	// expects returns what differs from the step's expectation, or "". It is nil for a verb without an expectation.
	expects func(r *Run, s *Step) string
	// check validates a step before anything runs; nil if its shape is enough.
	check func(c *checker, s *Step) error
	// run performs the step.
	run func(r *Run, s *Step) error

	_ struct{}
}

// Param is one parameter of a verb.
type Param struct {
	Name    string
	Summary string
	Values  []string // the valid words; empty for any
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

// Explores reports whether the verb runs the steps above it many times. Such steps do not change the world.
func (v *Verb) Explores() bool { return v.explores }

// replayed reports whether a verb belongs to the program of a script: it acts, settles, or checks.
func (v *Verb) replayed() bool {
	return v.acts || v.installs || v.judges || v.paces || v.settles || v.expects != nil
}

// verbNamed finds a verb in a table, or returns nil.
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
