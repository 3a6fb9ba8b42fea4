package scenarios

import (
	"strings"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios/internal/manifest"
)

// servers is where names of kinds are looked up. A run uses its own server first, then one with all kinds that the file
// defines, because a CRD may come later in this schedule.
type servers []*fakeapi.Server

// kindNamed finds a kind by a name that a user may type, or returns nil.
func (in servers) kindNamed(name string) *fakeapi.Kind {
	for _, s := range in {
		if k := s.KindNamed(name); k != nil {
			return k
		}
	}
	return nil
}

// kindNamed finds the kind that a step names.
func kindNamed(in servers, s *Step, name string) (*fakeapi.Kind, error) {
	if k := in.kindNamed(name); k != nil {
		return k, nil
	}
	var names []string
	for _, server := range in {
		for _, k := range server.Kinds() {
			names = append(names, k.GVK.Kind, k.Resource)
		}
	}
	return nil, s.wrong("%s", manifest.UnknownKind(name, s.file.definedBy(name), names))
}

// target is an object that a step names.
type target struct {
	kind            *fakeapi.Kind
	namespace, name string
}

func parseTarget(in servers, s *Step, text string) (target, error) {
	parts := strings.Split(text, "/")
	t := target{namespace: "default"}
	switch len(parts) {
	case 3:
		t.namespace, parts = parts[0], parts[1:]
	case 2:
	default:
		return t, s.wrong("%s is not an object: write KIND/NAME, or NAMESPACE/KIND/NAME", text)
	}
	if parts[1] == "" || t.namespace == "" {
		return t, s.wrong("%s is not an object: write KIND/NAME, or NAMESPACE/KIND/NAME", text)
	}
	k, err := kindNamed(in, s, parts[0])
	if err != nil {
		return t, err
	}
	t.kind, t.name = k, parts[1]
	if !k.Namespaced {
		t.namespace = ""
	}
	return t, nil
}

// targetOf returns the manifest's object as a target.
func targetOf(m *manifest.Manifest) target {
	o := m.Meta()
	return target{kind: m.Kind, namespace: o.GetNamespace(), name: o.GetName()}
}
