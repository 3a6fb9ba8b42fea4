package check

import (
	"fmt"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// admit creates the sample, and what is around it, in the world of a program that runs already, so that the program's
// webhooks are called. The worlds then hold what the webhooks made of them: no user can store an object that has not
// passed them. The error is a webhook's refusal.
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

// admitted is an object as the program's webhooks leave it. One that they leave alone stays as it was written.
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

// bare is an object without what the server adds, and without status.
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
