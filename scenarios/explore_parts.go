package scenarios

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/scenarios/internal/manifest"
	"github.com/threelaws/threelaws/sim/host"
)

// part is a part of a script that minimizing may remove: a user action, or an object in a section.
type part struct {
	step    int // index in File.Steps; -1 for an object
	section *section
	doc     int // index of the manifest in section.docs
	label   string
}

// parts lists what minimizing may remove for a failure: manifests that are not installed, and user steps that neither
// start controllers nor send sections. It keeps the objects of a failed expectation, and steps that change them.
func (p *Script) parts(b explore.Violation) []part {
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

// clears reports whether minimizing must keep a step that deletes an object, after a violation of a law about the
// end. It must if a section contains the object with a ControllerRef, if the user patched or labeled the object
// before, or if the user deleted an owner before and orphaned its dependents. A correct controller leaves this object
// alone, so without the step it would violate the law too.
func (p *Script) clears(b explore.Violation, step int) bool {
	steps := p.program()
	s := steps[step]
	if !judgesEnd(b.Law) || s.verb != verbDelete {
		return false
	}
	t, err := parseTarget(servers{p.File.server}, s, s.Word(0))
	return err == nil && p.File.owned(t) || slices.ContainsFunc(steps[:step], func(before *Step) bool {
		policy, _ := before.Param("cascade")
		return (before.verb == verbPatch || before.verb == verbLabel) && before.Word(0) == s.Word(0) || policy == "orphan"
	})
}

// owned reports whether a section contains the object with a ControllerRef.
func (f *File) owned(t target) bool {
	return slices.ContainsFunc(f.sections, func(sec *section) bool {
		docs, err := f.manifests(sec, f.server)
		return err == nil && slices.ContainsFunc(docs, func(m *manifest.Manifest) bool {
			return (about{named: []target{t}}).object(targetOf(m), m) && metav1.GetControllerOf(m.Meta()) != nil
		})
	})
}

const exactSum = "NOFIGHT-3"

// hosts reports whether the registry has a hosted program. Then CRDs are not removed, because a program may watch any
// kind. Waiting forever for a kind without a CRD would be a different failure.
func (p *Script) hosts() bool {
	return slices.ContainsFunc(p.Registry.Controllers, func(c host.Controller) bool { return c.Hosted() })
}

// definesAll reports whether the script without the removed parts still defines all kinds that it uses.
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

// without returns the file without the removed parts. The result can be run, but keeps the text of the original file.
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

// without returns the section without the manifests in gone. It removes them from the section's text too.
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
