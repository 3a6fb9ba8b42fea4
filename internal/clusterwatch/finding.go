package clusterwatch

import (
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// Sort is a kind of problem.
type Sort string

const (
	Fight         Sort = "fight"          // several managers bring a value back to an earlier state again and again
	Takeover      Sort = "takeover"       // an object's controller was replaced by another
	SecondThought Sort = "second-thought" // a controller released an object and took it back
	Stuck         Sort = "stuck"          // an object that was deleted long ago still exists
	Orphan        Sort = "orphan"         // an object that a controller created has no owner now
	LostOwner     Sort = "lost-owner"     // a reference to an owner that does not exist
	ForeignOwner  Sort = "foreign-owner"  // a reference to an owner in another namespace
)

// Finding is a problem to report.
type Finding struct {
	Sort   Sort      `json:"sort"`
	Law    string    `json:"law,omitempty"` // the name of the violated law, if any
	Object string    `json:"object"`        // "t/pod/web-1"
	Who    []string  `json:"who,omitempty"` // the managers that take part, if known
	Text   string    `json:"text"`
	First  time.Time `json:"first"`
	Last   time.Time `json:"last"`
	Rounds int       `json:"rounds,omitempty"` // the rounds of a fight
	Writes int       `json:"writes,omitempty"`
	Goes   bool      `json:"goesOn,omitempty"` // the fight continues after an earlier report
	Story  []Line    `json:"story,omitempty"`
}

// Line is one line of an object's story.
type Line struct {
	At     time.Time `json:"at"`
	Who    string    `json:"who"`
	Did    string    `json:"did"`
	Object string    `json:"object"`
	Change string    `json:"change,omitempty"`
}

// laws contains the names of the violated laws (sim/law).
var laws = map[Sort]string{Fight: "never-fight", Takeover: "claim-orphans-only", SecondThought: "few-handovers"}

const mostLines = 5

func (c *change) line() Line {
	o := c.new
	l := Line{At: c.at, Who: somebody(c.who), Did: "write"}
	switch {
	case c.new == nil:
		o = c.old
		l.Did = "gone"
	case c.old == nil:
		l.Did, l.Change = "create", owned(o)
	default:
		l.Change = c.words()
	}
	l.Object = o.ref()
	return l
}

func (c *change) words() string {
	var parts []string
	if c.new.terminating() && !c.old.terminating() {
		parts = append(parts, "deletion requested")
	}
	if a, b := c.old.controller(), c.new.controller(); !sameController(a, b) {
		parts = append(parts, "controller: "+owner(a)+" -> "+owner(b))
	} else if c.has("metadata.ownerReferences") {
		parts = append(parts, "owners")
	}
	if c.has("metadata.labels") {
		parts = append(parts, render.MapChanges("labels", c.old.Labels, c.new.Labels)...)
	}
	more := 0
	for _, l := range c.leaves {
		switch {
		case strings.HasPrefix(l.path, "metadata.labels"), strings.HasPrefix(l.path, "metadata.ownerReferences"):
		case len(parts) < 4:
			parts = append(parts, l.path+" = "+cut(l.is))
		default:
			more++
		}
	}
	if more > 0 {
		parts = append(parts, "and more")
	}
	return strings.Join(parts, "; ")
}

func owned(o *Version) string {
	if o.controller() == nil && len(o.OwnerReferences) > 0 {
		return "owner, no controller: " + owner(&o.OwnerReferences[0])
	}
	return "controller: " + owner(o.controller())
}

func owner(r *metav1.OwnerReference) string {
	if r == nil {
		return "none"
	}
	return sim.Short(r.Kind) + "/" + r.Name
}

func sameController(a, b *metav1.OwnerReference) bool {
	return (a == nil) == (b == nil) && (a == nil || a.UID == b.UID)
}

func cut(v any) string {
	s := text(v)
	if v == nil {
		s = "nothing"
	}
	if r := []rune(s); len(r) > 40 {
		s = string(r[:37]) + "..."
	}
	return s
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}

// Page formats a finding in lines of this width.
func (f *Finding) Page(width int) string {
	var b strings.Builder
	head := "--- " + string(f.Sort) + ": " + f.Object
	if f.Goes {
		head = "--- " + string(f.Sort) + " continues: " + f.Object
	}
	if f.Sort != Fight && len(f.Who) > 0 {
		head += ", by " + strings.Join(f.Who, " and ")
	}
	b.WriteString(render.Plain(head) + "\n")
	text := render.Table{Indent: "    ", Width: width}
	text.Add(render.Plain(f.Text))
	b.WriteString(text.String())
	if f.Goes || len(f.Story) == 0 {
		return b.String()
	}
	if f.Sort == Fight {
		b.WriteString("\n    one round:\n")
	} else {
		b.WriteString("\n")
	}
	story := render.Table{Indent: "    ", Width: width}
	for _, l := range f.Story {
		cells := []string{l.At.UTC().Format("15:04:05.000"), render.Plain(l.Who), render.Plain(l.Did)}
		if l.Change != "" {
			cells = append(cells, render.Plain(l.Change))
		}
		story.Add(cells...)
	}
	b.WriteString(story.String() + "\n")
	return b.String()
}
