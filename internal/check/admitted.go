package check

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// standalone runs a whole program in a world without the sample. It records the objects that the program creates, and
// the objects of its installation that it changes, for example a Secret for which it makes a certificate. No law applies
// to these objects, because they have no owner. Then standalone creates the sample, so that the webhooks of the program
// are called. It returns an error if a webhook refuses the sample.
func (s *operator) standalone() error {
	if !s.Controller.Hosted() {
		return nil
	}
	s.admitInstalled()
	r, err := s.drawn(nil, nil, nil)
	if err != nil {
		return nil
	}
	defer r.Stop()
	s.survives = !r.of.Down
	for _, rec := range r.writes() {
		ref := sim.Ref{Kind: rec.Object.Kind, Namespace: rec.Object.Namespace, Name: rec.Object.Name}
		switch {
		case rec.Before == nil && rec.After != nil:
			s.own = appendOnce(s.own, ref)
		case slices.ContainsFunc(s.installed, func(m manifest) bool {
			return m.GetKind() == ref.Kind && m.GetNamespace() == ref.Namespace && m.GetName() == ref.Name
		}):
			s.upkeep = appendOnce(s.upkeep, ref)
		}
	}
	return s.admit(r)
}

// itself reports whether the program creates an object even in a world without the sample.
func (s *operator) itself(o sim.Ref) bool {
	return slices.Contains(s.own, sim.Ref{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name})
}

func (s *operator) nothing() string {
	if len(s.own) == 0 {
		return "nothing"
	}
	return "only what it writes without that object"
}

// admit creates the sample and the objects around it while the program runs. The cases begin with the
// objects that the webhooks return. What the program creates without a reference before the sample exists is for the objects
// around it, so it is no dependent of the sample.
func (s *operator) admit(r *quiet) error {
	for i, m := range s.around {
		admitted, err := s.admitted(r, m)
		if err != nil {
			return err
		}
		s.around[i] = admitted
	}
	for i := range r.World.History.Len() {
		rec := r.World.History.At(i)
		m, is := rec.After.(metav1.Object)
		if is && rec.Op == sim.Commit && rec.Process == r.process && rec.Before == nil && len(m.GetOwnerReferences()) == 0 {
			s.own = appendOnce(s.own, sim.Ref{Kind: rec.Object.Kind, Namespace: rec.Object.Namespace, Name: rec.Object.Name})
		}
	}
	admitted, err := s.admitted(r, s.owner)
	if err != nil {
		return err
	}
	s.owner = admitted
	return nil
}

// admitInstalled creates the custom objects in installed while the program runs, as admit does with the sample. Built-in
// objects stay as they are, because the program or its webhooks may need them to start.
func (s *operator) admitInstalled() {
	hook := func(m manifest) bool { return strings.HasSuffix(m.GetKind(), "WebhookConfiguration") }
	custom := func(m manifest) bool { return s.custom(m.GroupVersionKind()) && len(m.GetFinalizers()) == 0 }
	if !slices.ContainsFunc(s.installed, hook) || !slices.ContainsFunc(s.installed, custom) {
		return
	}
	with, without := s.server, s.server.Fork()
	for _, m := range s.installed {
		if custom(m) {
			remove(without, m)
		}
	}
	s.server = without
	r, err := s.drawn(nil, nil, nil)
	if err != nil {
		s.server = with
		return
	}
	defer r.Stop()
	for i, m := range s.installed {
		if !custom(m) {
			continue
		}
		admitted, err := s.admitted(r, m)
		if err != nil {
			s.notes = appendOnce(s.notes, fmt.Sprintf("%s exists, although the operator's webhooks refuse it", m.at()))
		} else if create(without, admitted) == nil {
			s.installed[i] = admitted
			continue
		}
		_ = create(without, m) // load has created it without an error
	}
	s.installs = s.text()
}

func remove(server *fakeapi.Server, m manifest) {
	server.Do(sim.Epoch, &fakeapi.Request{Verb: fakeapi.Delete, Kind: server.Kind(m.GroupVersionKind()),
		Namespace: m.GetNamespace(), Name: m.GetName()})
}

// admits reports whether the program's webhooks accept an object. A world's initial objects are not sent to webhooks.
func (s *operator) admits(m manifest) bool {
	if !s.Controller.Hosted() {
		return true
	}
	r, err := s.run()
	if err != nil {
		return false
	}
	defer r.Stop()
	_, err = s.admitted(r, m)
	return err == nil
}

// admitted creates an object that does not exist yet, and returns it with the changes of the program's webhooks.
func (s *operator) admitted(r *quiet, m manifest) (manifest, error) {
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
		return m, nil // s.accept has already reported the error
	}
	resp, err := r.Request(req)
	switch {
	case apierrors.IsInternalError(err): // the webhook could not be called
		s.notes = appendOnce(s.notes, fmt.Sprintf("%s exists without having passed the operator's webhooks: %s", m.at(),
			strings.ReplaceAll(err.Error(), "\n", " ")))
		return m, nil
	case err != nil:
		return m, s.Sample.place(m, refusal(byWebhook+m.at(), err))
	}
	with := bare(shown(resp.Object, m.GroupVersionKind()))
	r.settle()
	if req, err = request(); err != nil {
		return m, nil
	}
	server := s.server.Fork()
	for _, before := range s.around {
		_ = create(server, before) // one of these may be m's namespace; an error is ignored: it may exist already
	}
	alone, _ := server.Do(sim.Epoch, req)
	if alone.Err == nil && reflect.DeepEqual(with.Object, bare(shown(alone.Object, m.GroupVersionKind())).Object) {
		return m, nil
	}
	return with, nil
}

// bare returns a copy without status and without the fields that the server sets.
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

// finishes lists the controllers that complete the objects of a kind: for a Job, the Job controller and the kubelet.
// Other controllers run only if Operator.With lists them: a CronJob controller never ends, and others, such as the
// disruption controller, complete nothing.
var finishes = map[string][]string{
	"DaemonSet":             {"daemonset", "kubelet"},
	"Deployment":            {"deployment", "replicaset", "kubelet"},
	"Job":                   {"job", "kubelet"},
	"Namespace":             {"namespace"},
	"Pod":                   {"kubelet"},
	"PersistentVolumeClaim": {"persistentvolumeclaim-protection"},
	"ReplicaSet":            {"replicaset", "kubelet"},
	"StatefulSet":           {"statefulset", "kubelet", "persistentvolumeclaim-protection"},
}

// errMore is the error of a quiet run after which further controllers run beside the controller: see finish. All facts
// must be found out again.
var errMore = errors.New("further controllers are needed")

// finish looks at the objects that the tested controller has created in a run. It adds the controllers that complete
// them, for example the kubelet for Pods. It reports whether it added any.
func (s *operator) finish(r *quiet) bool {
	var more []string
	for _, rec := range r.writes() {
		if rec.Before != nil || rec.After == nil {
			continue
		}
		if _, custom := r.Server.KindOf(rec.After.(runtime.Object)).Definition(); custom == nil {
			more = append(more, finishes[rec.Object.Kind]...)
		}
	}
	before := len(s.beside)
	if err := s.accompany(more); err != nil {
		panic("check: " + err.Error())
	}
	return len(s.beside) > before
}
