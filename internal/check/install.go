package check

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/sim"
)

// install creates what is installed. What is refused is noted.
func (s *subject) install() error {
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

func (s *subject) leaveOut(m manifest, why string) {
	s.notes = append(s.notes, "left out "+m.at()+": "+why)
}

// put creates an object; one that is there, as the namespace default, stays as it is.
func (s *subject) put(m manifest) error {
	k := s.server.Kind(m.GroupVersionKind())
	if s.server.Lookup(k, m.GetNamespace(), m.GetName()) != nil {
		return nil
	}
	return s.create(m)
}

// inOrder lists namespaces first, and last the configurations of webhooks, which would be called for what comes
// after them.
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

// text is what is installed beside the definitions that are in files.
func (s *subject) text() string {
	var texts []string
	for _, m := range s.held {
		texts = append(texts, compact(m))
	}
	if len(s.installed) > 0 {
		texts = append(texts, world(s.installed...))
	}
	return strings.Join(texts, "---\n")
}

// compact is a definition without its descriptions, which have no behaviour, on one line: that of KubeRay's
// RayJob is 1.3 MB of YAML, and 0.4 MB so.
func compact(m manifest) string {
	data, err := json.Marshal(undescribed(m.Object, false))
	if err != nil {
		panic("check: a manifest that was read cannot be written: " + err.Error())
	}
	return string(data) + "\n"
}

// undescribed leaves out the descriptions of a schema. A property may have that name.
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

// standalone runs a whole program in a world without any sample. What it creates there has no owner, so no law may ask
// for a reference to one. Then the sample is created. A reconciler syncs nothing without a sample, and has no webhooks.
// The error is a webhook's refusal of the sample.
func (s *subject) standalone() error {
	if !s.Controller.Hosted() {
		return nil
	}
	r, err := s.begin(nil)
	if err != nil {
		return nil
	}
	defer r.Stop()
	for _, rec := range r.writes() {
		ref := sim.Ref{Kind: rec.Object.Kind, Namespace: rec.Object.Namespace, Name: rec.Object.Name}
		if rec.Before == nil && rec.After != nil && !s.itself(ref) {
			s.own = append(s.own, ref)
		}
	}
	return s.admit(r)
}

// itself reports whether an object is one that the program makes for itself.
func (s *subject) itself(o sim.Ref) bool {
	return slices.Contains(s.own, sim.Ref{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name})
}

// nothing words what a program wrote that did nothing for its owner.
func (s *subject) nothing() string {
	if len(s.own) == 0 {
		return "nothing"
	}
	return "nothing but what it writes without it"
}
