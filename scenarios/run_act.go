package scenarios

import (
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

// refused is the error of a user request that the server refused; "!" expects it.
type refused struct{ text string }

func (e *refused) Error() string { return "refused: " + e.text }

// act performs a user action. In the default run it happens at once. In an explored run, between a barrier and an
// explored settle, it is one action among the others. It returns the server's refusal.
func (r *Run) act(label string, f func() error) error {
	r.settled.dirty = true
	if r.t.Waiting() > 0 || r.course.races && r.telling.settles > 0 && r.raced() {
		s := r.step
		r.t.LaterUntil(label, func() bool {
			err := f()
			r.note(s, err)
			return !unreachable(err)
		})
		return nil
	}
	err := r.t.Do(label, f)
	r.note(r.step, err)
	r.telling.atOnce(r.t.World.Steps())
	if e := (*Error)(nil); err != nil && !errors.As(err, &e) {
		return &refused{err.Error()}
	}
	return err
}

// unreachable reports whether a request failed because no process serves a webhook. The user then retries.
func unreachable(err error) bool {
	return err != nil && strings.Contains(err.Error(), "failed to call webhook") &&
		strings.Contains(err.Error(), "connection refused")
}

// note reports the result of a user step to the tried hook.
func (r *Run) note(s *Step, err error) {
	if r.tried != nil && s != nil {
		r.tried(s, err)
	}
}

// raced reports whether a step belongs to an explored settle rather than to set-up.
func (r *Run) raced() bool {
	if r.step == nil {
		return true
	}
	from := slices.Index(r.file.Steps, r.step)
	for _, s := range r.file.Steps[from+1:] {
		if s.verb.settles {
			return !s.Has("quiet")
		}
	}
	return true
}

// request executes one user request within a step.
func (r *Run) request(req *fakeapi.Request) error {
	if resp := r.t.Cluster.Request(law.User, req); resp.Err != nil {
		s := resp.Err.ErrStatus
		rec := &sim.Record{Code: int(s.Code), Reason: string(s.Reason), Message: s.Message}
		return errors.New(render.RefusalOf(rec))
	}
	return nil
}

// send sends a patch as the user.
func (r *Run) send(t target, subresource string, kind types.PatchType, data []byte) error {
	return r.request(&fakeapi.Request{Verb: fakeapi.Patch, Kind: t.kind, Subresource: subresource,
		Namespace: t.namespace, Name: t.name, PatchType: kind, Patch: data})
}
