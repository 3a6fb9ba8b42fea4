package scenarios

import (
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/scenarios/internal/manifest"
)

// about describes the objects of a failed expectation: named objects, or the objects of a kind that a selector matches.
type about struct {
	named    []target
	kind     schema.GroupVersionKind // empty if the expectation counts no objects
	selector labels.Selector
}

// speaksOf returns the objects that a failed expect names. For any other violation it returns no objects.
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

// object reports whether t is one of the objects in a. m is the manifest of t. If m is nil, the selector is ignored.
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

// deed reports whether a step of the user changes or deletes one of the objects in a.
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
