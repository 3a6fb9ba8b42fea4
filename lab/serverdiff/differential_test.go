package serverdiff

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
	"github.com/threelaws/threelaws/internal/randomobject"
	"github.com/threelaws/threelaws/internal/vectors"
)

var (
	server   = flag.String("server", "", "the URL of a kube-apiserver to compare with")
	token    = flag.String("token", "", "a bearer token for it")
	insecure = flag.Bool("insecure", true, "do not verify its certificate")
	throw    = flag.Bool("throwaway", false, "generate what is in force for everybody in that server, too")
	resource = flag.String("resources", "", "generate objects of these resources alone, with commas between")
)

func TestDifferential(t *testing.T) {
	if *server == "" {
		t.Skip("there is no server to compare with: make differential SERVER=https://...")
	}
	rapid.Check(t, func(rt *rapid.T) { try(rt, another(), kinds(t)) })
}

func another() *remote {
	return &remote{url: strings.TrimSuffix(*server, "/"), token: *token, settle: 200 * time.Millisecond,
		drain: 1500 * time.Millisecond, // tearDown in apiextensions-apiserver waits for a second
		client: &http.Client{Timeout: 30 * time.Second,
			Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: *insecure}}}}
}

// world has the kinds and the valid objects of sequences.
type world struct {
	kinds []*fakeapi.Kind
	good  map[schema.GroupVersionKind][]apiruntime.Object
}

// inForce lists kinds whose objects affect other requests: webhooks that no server answers, defaults, queues.
var inForce = map[string]bool{
	"admissionregistration.k8s.io/ValidatingWebhookConfiguration":   true,
	"admissionregistration.k8s.io/MutatingWebhookConfiguration":     true,
	"admissionregistration.k8s.io/ValidatingAdmissionPolicy":        true,
	"admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding": true,
	"admissionregistration.k8s.io/MutatingAdmissionPolicy":          true,
	"admissionregistration.k8s.io/MutatingAdmissionPolicyBinding":   true,
	"scheduling.k8s.io/PriorityClass":                               true,
	"storage.k8s.io/StorageClass":                                   true,
	"networking.k8s.io/IngressClass":                                true,
	"networking.k8s.io/ServiceCIDR":                                 true,
	"flowcontrol.apiserver.k8s.io/FlowSchema":                       true,
	"flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration":       true,
	"apiregistration.k8s.io/APIService":                             true,
	"rbac.authorization.k8s.io/ClusterRoleBinding":                  true,
}

// kinds returns the kinds that can be compared. It leaves out kinds such as namespaces and CRDs, on which another
// process of the real server acts.
func kinds(t *testing.T) *world {
	s := fakeapi.New(fakeapi.Options{})
	g := randomobject.Good{New: func(gvk schema.GroupVersionKind) apiruntime.Object {
		k := s.Kind(gvk)
		if k == nil || k.GVK.Kind == "Namespace" || k.GVK.Kind == "CustomResourceDefinition" {
			return nil
		}
		if *resource != "" && !slices.Contains(strings.Split(*resource, ","), k.Resource) ||
			*resource == "" && *server != "" && !*throw && inForce[gvk.Group+"/"+gvk.Kind] {
			return nil
		}
		return k.New()
	}}
	if err := g.AddFile("testdata/seeds.yaml"); err != nil {
		t.Fatal(err)
	}
	cases, err := vectors.Random2("../../fakeapi/testdata/vectors")
	if err != nil {
		t.Fatal(err)
	}
	g.AddRecorded(cases)
	w := &world{good: g.Of}
	for _, k := range s.Served() {
		if len(g.Of[k.GVK]) > 0 {
			w.kinds = append(w.kinds, k)
		}
	}
	if *resource == "" || slices.Contains(strings.Split(*resource, ","), crdKind.Resource) {
		w.kinds = append(w.kinds, crdKind)
	}
	if len(w.kinds) == 0 {
		t.Fatalf("no kind is left to compare: -resources=%s", *resource)
	}
	return w
}

var tries atomic.Int64

// try generates a sequence, sends it to a server and to this module's server, and fails if their answers differ. A step
// is a list of numbers. Shorter lists and smaller numbers are simpler steps.
func try(t *rapid.T, s *remote, w *world) {
	steps := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 499), 0, 40), 1, 15).Draw(t, "steps")
	only := rapid.SliceOfN(rapid.IntRange(0, len(w.kinds)-1), 1, 3).Draw(t, "kinds")
	id := fmt.Sprintf("%x%d", time.Now().UnixMilli(), tries.Add(1))
	step, at := -1, 0
	p := w.plan(id, func(n int) int {
		if at >= len(steps[step]) {
			return 0
		}
		at++
		return steps[step][at-1] % n
	})
	for _, i := range only {
		p.kinds = append(p.kinds, w.kinds[i])
		for _, obj := range w.good[w.kinds[i].GVK] {
			p.mutator.Learn(obj)
		}
	}
	var q sequence = p
	if slices.Contains(p.kinds, crdKind) {
		q = &custom{plan: p}
	}
	c, err := s.record(q, func() bool {
		step, at = step+1, 0
		return step < len(steps)
	})
	if err != nil {
		t.Fatal(err)
	}
	if at, err := difference(c); err != nil && known(err) == "" {
		t.Fatalf("request %d: %v\nafter\n%s", at, err, told(c))
	}
}

// Only what known.txt describes is a known difference, and it has a reason.
func TestKnownDifferences(t *testing.T) {
	const schema = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/a: "
	for text, want := range map[string]bool{
		"PATCH " + schema + "body/metadata/managedFields is []": true,
		"PUT " + schema + "status 422, want 409: {}":            true,
		"PUT " + schema + "status 422, want 200: {}":            false,
		"GET " + schema + "body/spec/rules is missing":          false,
		"": false,
	} {
		if reason := known(errors.New(text)); (reason != "") != want {
			t.Errorf("%q: %q", text, reason)
		}
	}
}

// plan returns a plan whose choices pick makes. The caller sets its kinds.
func (w *world) plan(id string, pick func(int) int) *plan {
	return &plan{mutator: &randomobject.Mutator{Pick: pick}, namespace: "diff-" + id, prefix: "q" + id,
		stored: map[string][]byte{}, made: map[string]bool{},
		good: func(k *fakeapi.Kind) []apiruntime.Object { return w.good[k.GVK] }}
}

// pretender returns this module's server as the other server, on a port.
func pretender(t *testing.T, through func(http.Handler) http.Handler) *remote {
	h := httpapi.New(fakeapi.New(fakeapi.Options{ManagedFields: true}), func() time.Time { return time.Now().UTC() })
	s := httptest.NewServer(through(h))
	t.Cleanup(s.Close)
	t.Cleanup(h.Close)
	return &remote{url: s.URL, client: s.Client()}
}

// drawn makes rapid generate the same sequences every time. The returned function undoes this.
func drawn(more map[string]string) func() {
	more["rapid.seed"], more["rapid.nofailfile"] = "1", "true"
	was := map[string]string{}
	for name, value := range more {
		was[name] = flag.Lookup(name).Value.String()
		flag.Set(name, value)
	}
	return func() {
		for name, value := range was {
			flag.Set(name, value)
		}
	}
}

// A server does not differ from itself. Services are left out: a client may choose an address for which the recorder
// already has a placeholder.
func TestNothingDiffersFromItself(t *testing.T) {
	defer drawn(map[string]string{})()
	s, w := pretender(t, func(h http.Handler) http.Handler { return h }), kinds(t)
	w.kinds = slices.DeleteFunc(w.kinds, func(k *fakeapi.Kind) bool { return k.GVK.Kind == "Service" })
	rapid.Check(t, func(rt *rapid.T) { try(rt, s, w) })
}

// heard is a test whose failure another test reads.
type heard struct {
	*testing.T
	failed bool
	said   strings.Builder
}

func (h *heard) Logf(format string, args ...any)   { fmt.Fprintf(&h.said, format+"\n", args...) }
func (h *heard) Errorf(format string, args ...any) { h.failed = true; h.Logf(format, args...) }
func (h *heard) Fail()                             { h.failed = true }
func (h *heard) Failed() bool                      { return h.failed }
func (h *heard) FailNow()                          { h.failed = true; runtime.Goexit() }
func (h *heard) Fatalf(format string, args ...any) { h.Errorf(format, args...); h.FailNow() }

// forgetful loses the data of ConfigMaps when they are updated.
func forgetful(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err == nil && r.Method == http.MethodPut {
			var obj map[string]json.RawMessage
			if json.Unmarshal(body, &obj) == nil {
				delete(obj, "data")
				body, _ = json.Marshal(obj)
			}
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		} else {
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		h.ServeHTTP(w, r)
	})
}

// A difference is found, and its sequence is as short as possible.
func TestADifferenceIsFoundAndSmall(t *testing.T) {
	defer drawn(map[string]string{"rapid.shrinktime": "3s"})()
	kind := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	s, w := pretender(t, forgetful), kinds(t)
	w.kinds = slices.DeleteFunc(w.kinds, func(k *fakeapi.Kind) bool { return k.GVK != kind })
	h := &heard{T: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		rapid.Check(h, func(rt *rapid.T) { try(rt, s, w) })
	}()
	<-done
	said := h.said.String()
	if !h.failed || !strings.Contains(said, "request 2: ") || strings.Contains(said, "\n3 ") {
		t.Errorf("two requests distinguish a server that forgets data: %v %s", h.failed, said)
	}
}
