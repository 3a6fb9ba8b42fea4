package scenarios

import (
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/scenarios/internal/manifest"
)

// about is the subject of a failing expectation: objects by name, or all objects of a kind that a selector matches.
type about struct {
	named    []target
	kind     schema.GroupVersionKind // empty if it counts nothing
	selector labels.Selector
}

// speaksOf returns the subject of the step that failed like this. Only a violation of expect has one.
func (p *Script) speaksOf(b explore.Violation) about {
	a := about{selector: labels.Everything()}
	if b.Law != expectation {
		return a
	}
	in := servers{p.File.server}
	for _, s := range p.program() {
		if s.verb != verbExpect || !strings.HasPrefix(b.Text, s.String()+": ") {
			continue
		}
		if v, ok := s.Param("selector"); ok {
			a.selector, _ = labels.Parse(v)
		}
		controller, _ := s.Param("controller")
		for _, name := range []string{s.Word(0), controller} {
			if t, err := parseTarget(in, s, name); err == nil {
				a.named = append(a.named, t)
			}
		}
		if k := in.kindNamed(s.Word(1)); k != nil {
			a.kind = k.GVK
		}
		return a
	}
	return a
}

// object reports whether an object belongs to the subject. m is its manifest, or nil.
func (a about) object(t target, m *manifest.Manifest) bool {
	for _, n := range a.named {
		if n.kind.GVK == t.kind.GVK && n.namespace == t.namespace && n.name == t.name {
			return true
		}
	}
	if t.kind.GVK != a.kind {
		return false
	}
	return m == nil || a.selector.Matches(labels.Set(m.Meta().GetLabels()))
}

// deed reports whether a user step changes an object of the subject.
func (a about) deed(s *Step) bool {
	switch s.verb {
	case verbDelete, verbLabel, verbAnnotate, verbScale, verbPatch:
	default:
		return false
	}
	for _, w := range s.Words() {
		if t, err := parseTarget(servers{s.file.server}, s, w); err == nil && a.object(t, nil) {
			return true
		}
	}
	return false
}
