package scenarios

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/sim"
)

// part is something a failing script may do without: an action, or an object
// of a section.
type part struct {
	step    int // index in Steps; -1 for an object
	section *Section
	doc     int
	label   string
}

// parts lists what can be taken out of the program's script when it breaks a law
// so: everything the user does but starting controllers, and every manifest. What
// a failing expectation speaks of stays.
func (p *Script) parts(b explore.Finding) []part {
	var parts []part
	about := p.expectation(b)
	for i, s := range p.File.Steps[:min(p.Until, len(p.File.Steps))] {
		v := FindVerb(s.Verb)
		if !v.acts || v == verbControllers || v.sends() || about.deed(s) {
			continue
		}
		parts = append(parts, part{step: i, label: s.String()})
	}
	for _, sec := range p.File.Sections {
		docs, err := p.File.manifests(sec, p.File.server)
		if err != nil {
			continue
		}
		for i, m := range docs {
			if !about.object(m.target(), m) {
				parts = append(parts, part{step: -1, section: sec, doc: i, label: m.Ref().String()})
			}
		}
	}
	return parts
}

// sends reports whether the verb sends the manifests of sections.
func (v *Verb) sends() bool { return v == verbApply || v == verbCreate || v == verbDefine }

// subject is the program as package explore shrinks it. An expectation must go
// on failing in the same words, after the same last fault: nearly every one
// fails in an empty world, and for many a reason.
func (p *Script) subject(parts []part, f *explore.Failing) explore.Shrinkable {
	b := f.Breach
	s := explore.Shrinkable{}
	for _, pt := range parts {
		s.Parts = append(s.Parts, pt.label)
	}
	if last := lastFault(f.Schedule); b.Law == verbExpect.Name && last != nil {
		s.Keep = func(e *explore.Entry) bool { return e.Fault() && e.Action.Same(last.Action) }
	}
	s.Without = func(removed []bool) explore.Program {
		q := *p
		if q.File = p.File.without(parts, removed); !q.definesAll(parts, removed) {
			return nil
		}
		q.Until = p.Until - countSteps(parts, removed)
		if b.Law != verbExpect.Name {
			return q.Run
		}
		return func(c sim.Choices) *explore.Outcome {
			out := q.Run(c)
			if len(out.Findings) > 0 && out.Findings[0].Text != b.Text {
				out.Findings = nil
			}
			return out
		}
	}
	return s
}

func lastFault(s explore.Schedule) *explore.Entry {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i].Fault() {
			return &s[i]
		}
	}
	return nil
}

// definesAll reports whether the program still defines the kinds that it uses,
// after some parts were taken out.
func (p *Script) definesAll(parts []part, removed []bool) bool {
	for i, pt := range parts {
		if removed[i] && pt.section != nil && pt.section.docs[pt.doc].defines() {
			f := *p.File
			f.Steps = slices.DeleteFunc(slices.Clone(f.Steps[:min(p.Until-countSteps(parts, removed), len(f.Steps))]),
				func(s *Step) bool { return !FindVerb(s.Verb).replayed() })
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
	g := &File{Name: f.Name, src: f.src, server: f.server}
	gone := map[int]bool{}
	docs := map[*Section]map[int]bool{}
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
	for _, sec := range f.Sections {
		g.Sections = append(g.Sections, sec.without(docs[sec]))
	}
	return g
}

// without is the section with some manifests taken out, text and all.
func (s *Section) without(gone map[int]bool) *Section {
	if len(gone) == 0 {
		return s
	}
	t := &Section{Name: s.Name, Line: s.Line, read: true, only: s.only, origin: s.origin, docs: []*Manifest{}}
	var texts []string
	chunks := s.chunks()
	for i, m := range s.docs {
		if gone[i] {
			continue
		}
		t.docs = append(t.docs, m)
		if i < len(chunks) {
			texts = append(texts, chunks[i])
		}
	}
	t.Body = strings.Join(texts, "---\n")
	return t
}

// chunks cuts the section's text into its manifests.
func (s *Section) chunks() []string {
	var chunks []string
	var b strings.Builder
	flush := func() {
		for line := range strings.Lines(b.String()) {
			if t := strings.TrimSpace(line); t != "" && t[0] != '#' && (!s.only || definitionText(b.String())) {
				chunks = append(chunks, strings.TrimRight(b.String(), "\n")+"\n")
				break
			}
		}
		b.Reset()
	}
	for line := range strings.Lines(s.Body) {
		if strings.TrimRight(line, " \r\n") == "---" {
			flush()
			continue
		}
		b.WriteString(line)
	}
	flush()
	return chunks
}

// definitionText reports whether a manifest's text is that of a definition.
func definitionText(text string) bool {
	var head struct{ Kind string }
	return yaml.Unmarshal([]byte(text), &head) == nil && head.Kind == definitionKind
}
