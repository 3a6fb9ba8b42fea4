package scenarios

import (
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
	Listed  bool    // commas part words, as they do in --controllers of a command

	acts     bool // it changes the world, so that in explored runs it is offered as an action of class user
	sends    bool // it sends the manifests of sections
	installs bool // it says what exists before anything happens
	settles  bool // it runs the world
	paces    bool // it says when the user's actions begin to race
	judges   bool // it says which laws count
	explores bool // it runs the steps above it many times

	// expects returns what is not as the step has it, "" for nothing; nil for a
	// verb that expects nothing.
	expects func(r *Run, s *Step) string
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

// replayed reports whether a verb belongs to the program of a script: it acts,
// settles, or says what must hold.
func (v *Verb) replayed() bool {
	return v.acts || v.installs || v.judges || v.paces || v.settles || v.expects != nil
}

// verbNamed finds a verb in a table, nil when it is not there.
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
