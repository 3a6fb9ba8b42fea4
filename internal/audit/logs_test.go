package audit_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/controllers"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/audit"
	"github.com/threelaws/threelaws/sim/law"
)

const (
	opOne = "system:serviceaccount:operators:op-one"
	opTwo = "system:serviceaccount:operators:op-two"
)

// recorded are logs of a real control plane, with the expected violations, actors and fights.
var recorded = []struct {
	name     string
	culprits string // first to last
	laws     string // with counts
	fights   string
}{
	{"clean-rollout", "", "", ""},
	{"job-run", "", "", ""},
	{"orphan-then-adopt", "", "", ""},
	{"two-rs-one-selector", "", "", ""},
	{"steal", opOne, "LAW-1b 2, LAW-2 2", ""},
	{"interferer", opOne, "LAW-2 20", "op-one, replicaset-controller: the pods of rs/web"},
	{"label-flapper", opOne, "LAW-2 8", "op-one, replicaset-controller: owner and labels of pod/web-n6rdv"},
	{"no-controllerref", opOne, "LAW-1 3", ""},
	{"configmap-war", opOne + " " + opTwo, "", "op-one, op-two: data.mode of cm/shared"},
}

var known = func() []audit.Controller {
	server := fakeapi.New(fakeapi.Options{})
	return audit.Hosted(controllers.Builtin(), func(gvk schema.GroupVersionKind) runtime.Object {
		return server.Kind(gvk).New()
	})
}()

func options() audit.Options { return audit.Options{Controllers: known, Laws: law.All()} }

func never() bool { return false }

// judged judges files.
func judged(t testing.TB, o audit.Options, files ...string) *audit.Report {
	t.Helper()
	s := audit.NewSource()
	for _, f := range files {
		if err := s.Open(f); err != nil {
			t.Fatal(err)
		}
	}
	a := audit.New(o)
	if err := a.Run(s, never); err != nil {
		t.Fatal(err)
	}
	return a.Report(s)
}

// judgedText judges logs given as text.
func judgedText(t testing.TB, logs ...io.Reader) *audit.Report {
	t.Helper()
	s := audit.NewSource()
	for i, r := range logs {
		if err := s.Add(fmt.Sprintf("log%d", i), r); err != nil {
			t.Fatal(err)
		}
	}
	a := audit.New(options())
	if err := a.Run(s, never); err != nil {
		t.Fatal(err)
	}
	return a.Report(s)
}

// short summarizes a report.
func short(r *audit.Report) (culprits, laws, fights string) {
	var l, f []string
	for _, b := range r.Breaches {
		l = append(l, fmt.Sprintf("%s %d", b.ID, b.Count))
	}
	for _, x := range r.Fights {
		var who []string
		for _, w := range x.Between {
			who = append(who, w[strings.LastIndex(w, ":")+1:])
		}
		what := x.What
		for _, word := range strings.Fields(what) {
			if a, rest, ok := strings.Cut(word, "/"); ok && strings.HasPrefix(a, "t") && strings.Contains(rest, "/") {
				what = strings.Replace(what, word, rest, 1)
			}
		}
		f = append(f, strings.Join(who, ", ")+": "+what)
	}
	return strings.Join(r.Culprits(), " "), strings.Join(l, ", "), strings.Join(f, "; ")
}

func TestRecordedLogs(t *testing.T) {
	for _, c := range recorded {
		t.Run(c.name, func(t *testing.T) {
			r := judged(t, options(), "testdata/"+c.name+".log.gz")
			culprits, laws, fights := short(r)
			if culprits != c.culprits || laws != c.laws || fights != c.fights {
				t.Errorf("culprits %q, laws %q, fights %q", culprits, laws, fights)
			}
			if r.Judged == 0 || r.Broken != (c.culprits != "") {
				t.Errorf("%d of %d writes judged, broken %v", r.Judged, r.Writes, r.Broken)
			}
			for _, b := range append(r.Breaches, r.Doubtful...) {
				t.Logf("%s %s %d doubt %v: %s %v %v", b.ID, b.Actor, b.Count, b.Doubt, b.Text, b.Objects, b.Story)
			}
			for _, l := range r.Left {
				t.Logf("left %+v", *l)
			}
			for _, f := range r.Fights {
				t.Logf("%+v", *f)
			}
		})
	}
}
