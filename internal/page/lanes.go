package page

import (
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// Lane is a lane of the page's diagram. It shows one object or several objects.
type Lane struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	Size int    `json:"size"` // the number of objects in the lane
}

const mostLanes = 12

// lanes assigns the timeline's objects and their owners to lanes, in three ways: a lane per object, per generated name,
// and per kind. Owners come first. The other objects follow in the order in which they appear.
func (m *maker) lanes() {
	order := m.matter()
	prefix := m.generated()
	at := map[laneKey]int{}
	for _, o := range order {
		obj := &m.run.Objects[o-1]
		name := obj.Name
		if p := prefix[o]; p != "" {
			name = p
		}
		for fold, lane := range []string{obj.Name, name, sim.Short(obj.Kind) + "/*"} {
			obj.Lane[fold] = m.lane(at, laneKey{fold, lane, obj.Kind})
		}
	}
	m.run.Fold = len(m.run.Lanes) - 1
	for fold := m.run.Fold; fold >= 0; fold-- {
		m.single(fold)
		if len(m.run.Lanes[fold]) <= mostLanes {
			m.run.Fold = fold
		}
	}
}

type laneKey struct {
	fold       int
	name, kind string
}

// lane adds one object to the size of a lane. It creates the lane if necessary, and returns its position, from 1.
func (m *maker) lane(at map[laneKey]int, k laneKey) int {
	if at[k] == 0 {
		m.run.Lanes[k.fold] = append(m.run.Lanes[k.fold], Lane{Name: k.name, Kind: k.kind})
		at[k] = len(m.run.Lanes[k.fold])
	}
	m.run.Lanes[k.fold][at[k]-1].Size++
	return at[k]
}

func (m *maker) single(fold int) {
	if m.run.Lanes[fold] == nil {
		m.run.Lanes[fold] = []Lane{}
	}
	for i := range m.run.Objects {
		o := &m.run.Objects[i]
		if o.Lane[fold] == 0 {
			continue
		}
		if l := &m.run.Lanes[fold][o.Lane[fold]-1]; l.Size == 1 {
			l.Name = o.Name
		}
	}
}

func (m *maker) matter() []int {
	var owners, others []int
	in := map[int]bool{}
	add := func(list *[]int, o int) {
		if o > 0 && !in[o] {
			in[o] = true
			*list = append(*list, o)
		}
	}
	var mine []int
	for i := range m.lines {
		for _, k := range m.lines[i].Records {
			r := &m.run.Records[k-m.base]
			add(&owners, r.For)
			mine = append(mine, r.Object)
			for _, w := range m.owners(m.src.History.At(k)) {
				add(&owners, w)
			}
			if r.For > 0 && r.Process > 0 {
				p, name := &m.run.Processes[r.Process-1], m.run.Objects[r.For-1].Name
				if !slices.Contains(p.Syncs, name) {
					p.Syncs = append(p.Syncs, name)
				}
			}
		}
	}
	for _, o := range mine {
		add(&others, o)
	}
	return append(owners, others...)
}

// owners lists those owners of a record's object that are objects of the run.
func (m *maker) owners(r *sim.Record) (out []int) {
	for _, version := range []any{r.Before, r.After} {
		for _, w := range render.Owners(version) {
			if o := m.objects[w.Ref.Kind+" "+w.Ref.Namespace+" "+w.Ref.Name]; o > 0 {
				out = append(out, o)
			}
		}
	}
	return out
}

// generated returns the name prefix, "pod/b-*", of each object with a generated name.
func (m *maker) generated() map[int]string {
	out := map[int]string{}
	for i := range m.run.Records {
		r := &m.run.Records[i]
		o, ok := m.src.History.At(i + m.base).After.(metav1.Object)
		if !ok || r.Object == 0 || out[r.Object] != "" || o.GetGenerateName() == "" {
			continue
		}
		name := m.run.Objects[r.Object-1].Name
		if cut := strings.LastIndex(name, o.GetGenerateName()); cut >= 0 {
			out[r.Object] = name[:cut] + o.GetGenerateName() + "*"
		}
	}
	return out
}

func (l *Lane) label() string {
	if l.Size > 1 {
		return l.Name + " (" + strconv.Itoa(l.Size) + ")"
	}
	return l.Name
}

// Break is a violation in a run.
type Break struct {
	Law      string   `json:"law"`
	Sentence string   `json:"sentence"`
	Source   string   `json:"source,omitempty"`
	Text     string   `json:"text,omitempty"`
	Race     bool     `json:"race,omitempty"`
	Line     int      `json:"line,omitempty"`  // the number of the violating line
	First    int      `json:"first,omitempty"` // for a fight: the numbers of the first and last line of its cycle
	Last     int      `json:"last,omitempty"`
	Story    []string `json:"story,omitempty"` // the violating request as a sentence; for a fight, the first of its cycle
}

const mostStory = 6

// broken adds a violation to the run, unless the run has it already.
func (m *maker) broken(b *render.Mark) {
	j := m.breakOf(b)
	again := func(b Break) bool { return b.Law == j.Law && b.Line == j.Line && b.Text == j.Text }
	if !slices.ContainsFunc(m.run.Breaks, again) {
		m.run.Breaks = append(m.run.Breaks, j)
	}
}

// breakOf returns a violation, with the lines that belong to it.
func (m *maker) breakOf(b *render.Mark) Break {
	j := Break{Law: b.Law, Sentence: b.Sentence, Source: b.Source, Text: b.Text, Race: b.Race}
	for i := range m.lines {
		for _, r := range m.lines[i].Records {
			if r == b.Record {
				j.Line = m.lines[i].N
			}
		}
	}
	if first, last, ok := render.Numbers(m.lines, b.Cycle); ok {
		j.First, j.Last = first, last
		for _, l := range m.lines[first-1 : min(last, first-1+mostStory)] {
			j.Story = append(j.Story, sentence(&l))
		}
	} else if j.Line > 0 {
		if l := &m.lines[j.Line-1]; l.Write || l.Refused {
			j.Story = []string{sentence(l)}
		}
	}
	return j
}

// sentence describes a line of the timeline: "rs/a deletes pod/b-1".
func sentence(l *render.Line) string {
	verb, rest, _ := strings.Cut(l.Verb, " ")
	switch {
	case verb == "status":
		verb = "writes the status of"
	case strings.HasSuffix(verb, "ch"), strings.HasSuffix(verb, "s"):
		verb += "es"
	case strings.HasSuffix(verb, "y"):
		verb = strings.TrimSuffix(verb, "y") + "ies"
	default:
		verb += "s"
	}
	text := l.Who + " " + verb
	if rest != "" {
		text += " " + rest
	}
	if l.Object != "" && l.Object != l.Who {
		text += " " + l.Object
	} else if l.Object != "" {
		text += " itself"
	}
	if l.Refused {
		text += " and is refused"
	}
	return text
}
