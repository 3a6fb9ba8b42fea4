package check

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// install creates the installed objects, and notes those that the server refuses.
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

// put creates an object unless it exists.
func (s *subject) put(m manifest) error {
	k := s.server.Kind(m.GroupVersionKind())
	if s.server.Lookup(k, m.GetNamespace(), m.GetName()) != nil {
		return nil
	}
	return create(s.server, m)
}

// inOrder sorts namespaces first, and webhook configurations last: webhooks would be called for what comes after them.
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

// text is the YAML of what is installed beside the CRDs that are in files.
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

// compact is a CRD in one line without descriptions. KubeRay's RayJob has 1.3 MB of YAML, and 0.4 MB in this form.
func compact(m manifest) string {
	data, err := json.Marshal(undescribed(m.Object, false))
	if err != nil {
		panic("check: a manifest that was read cannot be written: " + err.Error())
	}
	return string(data) + "\n"
}

// undescribed removes the descriptions of a schema, but no property of that name.
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

// standalone runs a whole program in a world without a sample. No law applies to what it creates there, since that has
// no owner. Then it creates the sample, so that the program's webhooks are called. The error is a webhook's refusal.
func (s *subject) standalone() error {
	if !s.Controller.Hosted() {
		return nil
	}
	r, err := s.drawn(nil, nil, nil)
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

// itself reports whether the program creates an object without a sample, too.
func (s *subject) itself(o sim.Ref) bool {
	return slices.Contains(s.own, sim.Ref{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name})
}

func (s *subject) nothing() string {
	if len(s.own) == 0 {
		return "nothing"
	}
	return "nothing but what it writes without it"
}

// admit creates the sample and what is around it while the program runs: cases begin with them as webhooks changed
// them.
func (s *subject) admit(r *quiet) error {
	for i, m := range s.around {
		admitted, err := s.admitted(r, m)
		if err != nil {
			return err
		}
		s.around[i] = admitted
	}
	admitted, err := s.admitted(r, s.owner)
	if err != nil {
		return err
	}
	s.owner = admitted
	return nil
}

// admitted is an object as the program's webhooks change it. If they do not, it stays as it was written.
func (s *subject) admitted(r *quiet, m manifest) (manifest, error) {
	k := r.Server.Kind(m.GroupVersionKind())
	if r.stored(m) != nil {
		return m, nil
	}
	request := func() (*fakeapi.Request, error) {
		obj, err := m.typed(k)
		return &fakeapi.Request{Verb: fakeapi.Create, Kind: k, Namespace: m.GetNamespace(), Object: obj}, err
	}
	req, err := request()
	if err != nil {
		return m, nil // accept said so already
	}
	resp, err := r.Request(req)
	switch {
	case apierrors.IsInternalError(err): // it could not be called
		s.notes = append(s.notes, fmt.Sprintf("%s exists without having passed the operator's webhooks: %s", m.at(),
			strings.ReplaceAll(err.Error(), "\n", " ")))
		return m, nil
	case err != nil:
		return m, s.Sample.place(m, refusal("with the operator's webhooks the server refuses "+m.at(), err))
	}
	with := bare(shown(resp.Object, m.GroupVersionKind()))
	r.settle()
	if req, err = request(); err != nil {
		return m, nil
	}
	server := s.server.Fork()
	for _, before := range s.around {
		_ = create(server, before) // a namespace may be among them; one that is there already stays
	}
	alone, _ := server.Do(sim.Epoch, req)
	if alone.Err == nil && reflect.DeepEqual(with.Object, bare(shown(alone.Object, m.GroupVersionKind())).Object) {
		return m, nil
	}
	return with, nil
}

// bare removes what the server adds, and the status.
func bare(m manifest) manifest {
	c := m.copied(m.GetName())
	if m.GetNamespace() == "" {
		delete(c.Object["metadata"].(map[string]any), "namespace")
	}
	c.SetAnnotations(m.GetAnnotations())
	c.SetFinalizers(m.GetFinalizers())
	c.SetOwnerReferences(m.GetOwnerReferences())
	return c
}
