package ref

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim/host"
)

// script is a client with scripted answers. It records the requests.
type script struct {
	host.Client
	live     runtime.Object
	liveErr  error
	patchErr map[string]error
	asked    []string
}

func (s *script) Get(_ context.Context, _ schema.GroupVersionKind, namespace, name string) (runtime.Object, error) {
	s.asked = append(s.asked, "get "+namespace+"/"+name)
	return s.live, s.liveErr
}

func (s *script) Patch(_ context.Context, _ schema.GroupVersionKind, namespace, name string,
	p host.Patch) (runtime.Object, error) {
	s.asked = append(s.asked, "patch "+namespace+"/"+name)
	return nil, s.patchErr[name]
}

var (
	podResource = schema.GroupResource{Resource: "pods"}
	notFound    = apierrors.NewNotFound(podResource, "p")
	invalid     = apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "p", nil)
	conflict    = apierrors.NewConflict(podResource, "p", nil)
)

func named(p *corev1.Pod, name string) *corev1.Pod {
	p.Name = name
	return p
}

func TestClaim(t *testing.T) {
	successor := owner(false)
	successor.UID = "successor"
	orphans := func() []*corev1.Pod {
		return []*corev1.Pod{named(pod("ns", false, ""), "a"), named(pod("ns", false, ""), "b")}
	}
	stray := func() []*corev1.Pod { return []*corev1.Pod{pod("ns", false, "me")} }
	for _, c := range []struct {
		name    string
		pods    []*corev1.Pod
		matches bool
		client  script
		without Without
		claimed int
		failed  string // part of the error
		asked   string
	}{
		{name: "two orphans, one live check", pods: orphans(), matches: true, client: script{live: owner(false)},
			claimed: 2, asked: "get ns/web, patch ns/a, patch ns/b"},
		{name: "no orphan, no live check", pods: []*corev1.Pod{pod("ns", false, "me")}, matches: true, claimed: 1},
		{name: "owner gone", pods: orphans(), matches: true, client: script{liveErr: notFound},
			failed: "not found", asked: "get ns/web"},
		{name: "owner replaced", pods: orphans(), matches: true, client: script{live: successor},
			failed: "got uid successor", asked: "get ns/web"},
		{name: "owner being deleted", pods: orphans(), matches: true, client: script{live: owner(true)},
			failed: "has just been deleted", asked: "get ns/web"},
		{name: "one lost race, the other won", pods: orphans(), matches: true,
			client:  script{live: owner(false), patchErr: map[string]error{"a": invalid}},
			claimed: 1, failed: "invalid", asked: "get ns/web, patch ns/a, patch ns/b"},
		{name: "one orphan gone", pods: orphans(), matches: true,
			client:  script{live: owner(false), patchErr: map[string]error{"a": notFound}},
			claimed: 1, asked: "get ns/web, patch ns/a, patch ns/b"},
		{name: "release", pods: stray(), asked: "patch ns/p"},
		{name: "release what is gone", pods: stray(), client: script{patchErr: map[string]error{"p": notFound}},
			asked: "patch ns/p"},
		{name: "release what was replaced", pods: stray(), client: script{patchErr: map[string]error{"p": invalid}},
			asked: "patch ns/p"},
		{name: "release refused", pods: stray(), client: script{patchErr: map[string]error{"p": conflict}},
			failed: "Operation cannot be fulfilled", asked: "patch ns/p"},

		{name: "without LiveCheck", pods: orphans(), matches: true, client: script{liveErr: notFound},
			without: Without{LiveCheck: true},
			claimed: 2, asked: "patch ns/a, patch ns/b"},
		{name: "without LiveUID", pods: orphans(), matches: true, client: script{live: successor},
			without: Without{LiveUID: true},
			claimed: 2, asked: "get ns/web, patch ns/a, patch ns/b"},
		{name: "without LiveDeletion", pods: orphans(), matches: true, client: script{live: owner(true)},
			without: Without{LiveDeletion: true},
			claimed: 2, asked: "get ns/web, patch ns/a, patch ns/b"},
		{name: "without Loser", pods: orphans(), matches: true, without: Without{Loser: true},
			client:  script{live: owner(false), patchErr: map[string]error{"a": invalid}},
			claimed: 2, asked: "get ns/web, patch ns/a, patch ns/b"},
		{name: "without Gone", pods: stray(), client: script{patchErr: map[string]error{"p": notFound}},
			without: Without{Gone: true}, failed: "not found", asked: "patch ns/p"},
		{name: "without Replaced", pods: stray(), client: script{patchErr: map[string]error{"p": invalid}},
			without: Without{Replaced: true}, failed: "invalid", asked: "patch ns/p"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &Manager{Client: &c.client, Owner: owner(false), Kind: rsKind,
				Dependent: corev1.SchemeGroupVersion.WithKind("Pod"), Without: &c.without}
			claimed, err := Claim(context.Background(), m, c.pods, func(*corev1.Pod) bool { return c.matches })
			if len(claimed) != c.claimed {
				t.Errorf("claimed %d, want %d", len(claimed), c.claimed)
			}
			if c.failed == "" && err != nil || c.failed != "" &&
				(err == nil || !strings.Contains(err.Error(), c.failed)) {
				t.Errorf("error %v, want %q", err, c.failed)
			}
			if got := strings.Join(c.client.asked, ", "); got != c.asked {
				t.Errorf("requests %q, want %q", got, c.asked)
			}
		})
	}
}

type patches struct {
	host.Client
	last string
	obj  runtime.Object
}

func (p *patches) Patch(_ context.Context, _ schema.GroupVersionKind, _, _ string, patch host.Patch) (runtime.Object,
	error) {
	p.last = string(patch.Data)
	return p.obj, nil
}

// Finalizers are added and removed in the same patch as the reference.
func TestFinalizers(t *testing.T) {
	orphan := pod("ns", false, "")
	c := &patches{obj: orphan}
	m := &Manager{Client: c, Owner: owner(false), Finalizers: []string{"a/b", `c/"d`},
		Without: &Without{LiveCheck: true}}
	if err := m.Adopt(context.Background(), orphan); err != nil {
		t.Fatal(err)
	}
	const adopts = `{"metadata":{"finalizers":["a/b","c/\"d"],"ownerReferences":[`
	if len(c.last) < len(adopts) || c.last[:len(adopts)] != adopts {
		t.Errorf("adoption patch %s", c.last)
	}
	if err := m.Release(context.Background(), orphan); err != nil {
		t.Fatal(err)
	}
	const releases = `{"metadata":{"$deleteFromPrimitiveList/finalizers":["a/b","c/\"d"],"ownerReferences":[`
	if len(c.last) < len(releases) || c.last[:len(releases)] != releases {
		t.Errorf("release patch %s", c.last)
	}
}
