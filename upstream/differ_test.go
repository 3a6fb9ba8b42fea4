package upstream_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/generate"
)

var (
	update   = flag.Bool("update", false, "rewrite what is generated in docs/evidence/fidelity.md")
	attempts = flag.Int("attempts", 150, "objects that are generated of each kind")
	only     = flag.String("kind", "", "generate objects of this kind alone, and show an example of each difference")
)

// difference is one way in which the server's own rules differ from kube-apiserver's.
type difference struct{ kind, field, what string }

// pair is one server with its own rules and one with kube-apiserver's, which else hold
// the same.
type pair struct {
	own, real *fakeapi.Server
	found     map[difference]int
	example   map[difference]string
	tried     int
	same      int
	drawn     drawn // of the object that lives
}

// tries is how many objects of each kind are generated: 10,000 with SOAK in the environment.
func tries() int {
	if os.Getenv("SOAK") != "" {
		return max(*attempts, 10_000)
	}
	return *attempts
}

var at = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// leastAlike is the share of the requests that both servers must answer alike.
const leastAlike = 0.998

// Objects that are generated from good ones are sent to both servers, and so are updates
// of what was stored. With -update the list of differences goes into docs/evidence/fidelity.md.
func TestOwnRulesAgainstUpstreams(t *testing.T) {
	own := fakeapi.New(fakeapi.Options{})
	real := fakeapi.New(fakeapi.Options{Strategies: strategies})
	good := seeds(t, own)
	found, example := map[difference]int{}, map[difference]string{}
	var totals []string
	tried, same := 0, 0
	for _, k := range own.Served() {
		if strategies[k.GVK] == nil || *only != "" && *only != k.GVK.Kind {
			continue
		}
		if len(good[k.GVK]) == 0 {
			t.Errorf("no good object of %s to begin with", k.GVK)
			continue
		}
		p := &pair{own: own, real: real, found: map[difference]int{}, example: example}
		p.kind(k, good[k.GVK])
		totals = append(totals, fmt.Sprintf("%s %d/%d", k.GVK.Kind, p.same, p.tried))
		tried, same = tried+p.tried, same+p.same
		for d, n := range p.found {
			found[d] += n
		}
	}
	t.Logf("%d of %d requests are answered alike: %s", same, tried, strings.Join(totals, ", "))
	rows := ranked(found)
	if *only != "" {
		for _, d := range rows {
			t.Logf("%4d %s %s: %s\n%s", found[d], d.kind, d.field, d.what, example[d])
		}
		return
	}
	list := table(rows, found, tried, same)
	documentPart(t, "rules", list)
	if float64(same) < leastAlike*float64(tried) {
		t.Errorf("less than %.1f %% of the requests are answered alike\n%s", 100*leastAlike, list)
	}
}

// kind tries objects of one kind.
func (p *pair) kind(k *fakeapi.Kind, good []runtime.Object) {
	h := fnv.New64a()
	h.Write([]byte(k.GVK.String()))
	r := rand.New(rand.NewSource(int64(h.Sum64())))
	m := &generate.Mutator{Pick: r.Intn}
	for _, obj := range good {
		m.Learn(obj)
	}
	for n := range tries() {
		obj := good[n%len(good)].DeepCopyObject()
		acc, _ := meta.Accessor(obj)
		acc.SetOwnerReferences(nil)
		if acc.SetNamespace(""); k.Namespaced {
			acc.SetNamespace("default")
		}
		if n >= len(good) {
			m.Mutate(obj, false)
		}
		p.life(m, k, obj)
	}
}

// life creates an object on both servers, and changes it while they agree.
func (p *pair) life(m *generate.Mutator, k *fakeapi.Kind, obj runtime.Object) {
	own, real := p.own.Fork(), p.real.Fork()
	p.drawn = drawn{}
	acc, _ := meta.Accessor(obj)
	stored, _ := p.both(m, k, own, real, &fakeapi.Request{Verb: fakeapi.Create, Kind: k, Namespace: acc.GetNamespace(),
		Object: obj}, "create")
	for i := 0; stored != nil && i < 3; i++ {
		next, way := stored.DeepCopyObject(), "update"
		req := &fakeapi.Request{Verb: fakeapi.Update, Kind: k, Namespace: acc.GetNamespace(), Object: next}
		if k.Status && i == 1 {
			req.Subresource, way = "status", "status"
		}
		m.Mutate(next, req.Subresource != "")
		acc, _ := meta.Accessor(next)
		req.Name = acc.GetName()
		after, agreed := p.both(m, k, own, real, req, way)
		if !agreed {
			return
		}
		if after != nil {
			stored = after
		}
	}
}

// both sends a request to both servers. It returns what was stored, if anything was,
// and whether they agree.
func (p *pair) both(m *generate.Mutator, k *fakeapi.Kind, own, real *fakeapi.Server, req *fakeapi.Request,
	way string) (stored runtime.Object, agreed bool) {
	p.tried++
	sent, _ := json.Marshal(req.Object)
	mine := answer(own, req)
	asked := *req
	asked.Object = p.drawn.object(req.Object)
	yours := answer(real, &asked)
	if mine.Err == nil && yours.Err == nil {
		p.drawn.note(string(sent), mine.Object, yours.Object)
	}
	if yours.Err != nil {
		learn(m, yours.Err.ErrStatus.Details)
	}
	translated := p.drawn.answer(mine)
	differs := compare(&translated, &yours)
	if len(differs) == 0 {
		p.same++
		return mine.Object, true
	}
	noted := map[difference]bool{}
	for _, d := range differs {
		d.kind, d.field = place(k.GVK.Kind, d.field)
		if noted[d] {
			continue
		}
		noted[d] = true
		p.found[d]++
		text := fmt.Sprintf("  %s %s\n  own  %s\n  real %s", way, sent, show(&mine), show(&yours))
		if p.example[d] == "" || len(text) < len(p.example[d]) {
			p.example[d] = text
		}
	}
	return nil, false
}

func answer(s *fakeapi.Server, req *fakeapi.Request) (r fakeapi.Response) {
	own := *req
	own.Object = req.Object.DeepCopyObject()
	defer func() {
		if what := recover(); what != nil {
			r = fakeapi.Response{Code: -1, Warnings: []string{fmt.Sprint(what, "\n", string(debug.Stack()))}}
		}
	}()
	r, _ = s.Do(at, &own)
	return r
}

func show(r *fakeapi.Response) string {
	if r.Err != nil {
		return r.Err.ErrStatus.Message
	}
	raw, _ := json.Marshal(r.Object)
	return fmt.Sprintf("%d %s %q", r.Code, raw, r.Warnings)
}
