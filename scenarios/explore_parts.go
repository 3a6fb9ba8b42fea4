package scenarios

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/scenarios/internal/manifest"
	"github.com/threelaws/threelaws/sim/host"
)

// part is something a failing script may do without: an action, or an object
// of a section.
type part struct {
	step    int // index in Steps; -1 for an object
	section *section
	doc     int
	label   string
}

// parts lists what can be taken out of the program's script when it breaks a law
// so: everything the user does but starting controllers, and every manifest. What
// a failing expectation speaks of stays.
func (p *Script) parts(b explore.Finding) []part {
	var parts []part
	about := p.speaksOf(b)
	for i, s := range p.program() {
		if !s.verb.acts || s.verb == verbControllers || s.verb.sends || about.deed(s) || p.clears(b, i) {
			continue
		}
		parts = append(parts, part{step: i, label: s.String()})
	}
	for _, sec := range p.File.sections {
		if sec.installed {
			continue
		}
		docs, err := p.File.manifests(sec, p.File.server)
		if err != nil {
			continue
		}
		for i, m := range docs {
			if !about.object(targetOf(m), m) && !(m.Defines() && p.hosts()) {
				parts = append(parts, part{step: -1, section: sec, doc: i, label: m.Ref().String()})
			}
		}
	}
	return parts
}

// clears reports whether a step deletes what the user had changed before, as an object without the reference that he
// took from it: as long as that stands under its name, a controller that leaves it alone lacks one too.
func (p *Script) clears(b explore.Finding, step int) bool {
	steps := p.program()
	s := steps[step]
	return b.Law == exactSum && s.verb == verbDelete && slices.ContainsFunc(steps[:step], func(before *Step) bool {
		return (before.verb == verbPatch || before.verb == verbLabel) && before.Word(0) == s.Word(0)
	})
}

const exactSum = "NOFIGHT-3"

// hosts reports whether a whole program runs. It may list and watch any kind that is defined, and wait for ever for
// one that is not, so that it fails for another reason: its definitions are no parts.
func (p *Script) hosts() bool {
	return slices.ContainsFunc(p.Registry.Controllers, func(c host.Controller) bool { return c.Hosted() })
}

// definesAll reports whether the program still defines the kinds that it uses,
// after some parts were taken out.
func (p *Script) definesAll(parts []part, removed []bool) bool {
	for i, pt := range parts {
		if removed[i] && pt.section != nil && pt.section.docs[pt.doc].Defines() {
			f := *p.File
			f.Steps = slices.DeleteFunc(slices.Clone(f.Steps[:min(p.Until-countSteps(parts, removed), len(f.Steps))]),
				func(s *Step) bool { return !s.verb.replayed() })
			return f.checkSteps(p.Registry) == nil
		}
	}
	return true
}

func countSteps(parts []part, removed []bool) int {
	n := 0
	for i, pt := range parts {
		if removed[i] && pt.step >= 0 {
			n++
		}
	}
	return n
}

// without is the file with some parts taken out. It runs; its text is that of
// the original. It is nil where a section is left without any manifest.
func (f *File) without(parts []part, removed []bool) *File {
	g := &File{Name: f.Name, src: f.src, verbs: f.verbs, server: f.server, base: f.base, quiet: &quietEnds{}}
	gone := map[int]bool{}
	docs := map[*section]map[int]bool{}
	for i, pt := range parts {
		switch {
		case !removed[i]:
		case pt.step >= 0:
			gone[pt.step] = true
		default:
			if docs[pt.section] == nil {
				docs[pt.section] = map[int]bool{}
			}
			docs[pt.section][pt.doc] = true
		}
	}
	for i, s := range f.Steps {
		if !gone[i] {
			g.Steps = append(g.Steps, s)
		}
	}
	for _, sec := range f.sections {
		g.sections = append(g.sections, sec.without(docs[sec]))
	}
	return g
}

// without is the section with some manifests taken out, text and all.
func (s *section) without(gone map[int]bool) *section {
	if len(gone) == 0 {
		return s
	}
	t := &section{name: s.name, line: s.line, read: true, only: s.only, installed: s.installed, origin: s.origin, docs: []*manifest.Manifest{}}
	var texts []string
	for i, m := range s.docs {
		if !gone[i] {
			t.docs = append(t.docs, m)
			texts = append(texts, m.Text)
		}
	}
	t.body = strings.Join(texts, "---\n")
	return t
}
