package check

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// install creates the objects in Installed. It adds a note for each object that it leaves out.
func (s *operator) install() error {
	seen := map[string]bool{}
	for _, u := range inOrder(s.Installed) {
		m := manifest{u.DeepCopy()}
		k := s.server.Kind(m.GroupVersionKind())
		if k == nil {
			s.leaveOut(m, "no server here serves "+worded(m.GroupVersionKind()))
			continue
		}
		if k.Namespaced && m.GetNamespace() == "" {
			m.SetNamespace("default")
		}
		if at := m.GetAPIVersion() + " " + m.at(); seen[at] {
			s.leaveOut(m, "it is there already")
			continue
		} else {
			seen[at] = true
		}
		if ns := m.GetNamespace(); ns != "" && s.server.Lookup(s.server.KindNamed("namespace"), "", ns) == nil {
			space := namespace(ns)
			if s.put(space) == nil {
				s.installed = append(s.installed, space)
			}
		}
		if err := s.put(m); err != nil {
			s.leaveOut(m, err.Error())
			continue
		}
		s.installed = append(s.installed, m)
	}
	return nil
}

func (s *operator) leaveOut(m manifest, why string) {
	s.notes = append(s.notes, "left out "+m.at()+": "+why)
}

func (s *operator) put(m manifest) error {
	k := s.server.Kind(m.GroupVersionKind())
	if s.server.Lookup(k, m.GetNamespace(), m.GetName()) != nil {
		return nil
	}
	return create(s.server, m)
}

// inOrder returns the objects with namespaces first and webhook configurations last. As soon as a webhook configuration
// exists, the server would call its webhooks for each further object.
func inOrder(all []*unstructured.Unstructured) []*unstructured.Unstructured {
	rank := func(o *unstructured.Unstructured) int {
		switch {
		case o.GetKind() == "Namespace":
			return 0
		case strings.HasSuffix(o.GetKind(), "WebhookConfiguration"):
			return 2
		}
		return 1
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b *unstructured.Unstructured) int { return cmp.Compare(rank(a), rank(b)) })
	return all
}

func namespace(name string) manifest {
	m, _ := read([]byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: " + name + "}\n"))
	return m
}

// text returns the YAML of the installed objects, except CRDs that are in files.
func (s *operator) text() string {
	var texts []string
	for _, m := range s.held {
		texts = append(texts, compact(m))
	}
	return documents(append(texts, world(s.installed...))...)
}

// compact returns a CRD in one line of JSON without descriptions. This reduces KubeRay's RayJob from 1.3 MB to 0.4 MB.
func compact(m manifest) string {
	data, err := json.Marshal(undescribed(m.Object, false))
	if err != nil {
		panic("check: a manifest that was read cannot be written: " + err.Error())
	}
	return string(data) + "\n"
}

// undescribed returns a schema without descriptions. It keeps properties that have the name description.
func undescribed(v any, properties bool) any {
	switch v := v.(type) {
	case map[string]any:
		less := make(map[string]any, len(v))
		for key, value := range v {
			if _, text := value.(string); key != "description" || properties || !text {
				less[key] = undescribed(value, key == "properties" && !properties)
			}
		}
		return less
	case []any:
		less := make([]any, len(v))
		for i := range v {
			less[i] = undescribed(v[i], false)
		}
		return less
	}
	return v
}
