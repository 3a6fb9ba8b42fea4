package law_test

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

// keepSecrets is a law that a user of the package declares.
var keepSecrets = &law.Law{
	ID: "OWN-1", Name: "keep-secrets", Source: "our own rules",
	Sentence: "No controller deletes a Secret that it does not own.",
	Needs:    law.Commits | law.Reads,
	New: law.On(func(j *law.Judge, r *sim.Record) {
		w := j.Write()
		if w.Actor == nil || r.Object.Kind != "Secret" || !w.Deletes {
			return
		}
		j.Exercise()
		switch {
		case w.Mine:
		case w.SawMine: // the controller owned the Secret when it read the Secret
			j.Report(law.Committed, "deleted for "+w.For.String()+", whose it is no more")
		default:
			j.Report(law.Informed, "deleted for "+w.For.String())
		}
	}, sim.Commit),
}

// A judge may have laws that the package does not contain. Several laws may report violations at one record.
func Example() {
	keeper := law.Actor{Process: "keeper", Controller: "keeper", For: schema.GroupVersionKind{Kind: "App"},
		Owns: []schema.GroupVersionKind{{Kind: "Secret"}}}
	judge := law.NewJudge([]law.Actor{keeper}, append(law.All(), keepSecrets))

	app := sim.Ref{Kind: "App", Namespace: "default", Name: "web", UID: "1"}
	ref := sim.Ref{Kind: "Secret", Namespace: "default", Name: "tls", UID: "2"}
	tls := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "tls", UID: "2"}}
	history := []sim.Record{
		{Index: 0, Op: sim.Commit, Process: law.User, Verb: "create", Object: ref, After: tls},
		{Index: 1, Op: sim.Commit, Process: "keeper", For: app, Verb: "delete", Object: ref, Before: tls, Saw: tls},
	}
	for i := range history {
		judge.Observe(&history[i])
	}
	for _, b := range judge.Violations() {
		fmt.Println(b)
	}
	// Output:
	// dont-interfere at 1: owned by none
	// keep-secrets at 1: deleted for app/web
}

// For an invariant of a world, set Invariants: []*law.Invariant{oneBucket} in a simtest.Case or a conformance.Subject.
// Here the invariant judges a short history.
func ExampleInvariant() {
	oneBucket := &law.Invariant{
		ID: "one-bucket-per-claim", Sentence: "No two Buckets for one claim.", When: law.AtWrite,
		Check: func(f *law.Facts) string {
			claims := map[string]string{} // claim -> name of its bucket
			for _, o := range f.All("Bucket") {
				b := o.(*unstructured.Unstructured)
				claim := b.GetLabels()["claim"]
				if other, taken := claims[claim]; taken {
					return other + " and " + b.GetName() + " are both for " + claim
				}
				claims[claim] = b.GetName()
			}
			return ""
		},
	}
	operator := law.Actor{Process: "operator", Controller: "operator"}
	judge := law.NewJudge([]law.Actor{operator}, []*law.Law{oneBucket.Law()})
	for i, name := range []string{"data", "data-2"} {
		bucket := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{
			"name": name, "uid": name, "labels": map[string]any{"claim": "web"}}}}
		judge.Observe(&sim.Record{Index: i, Op: sim.Commit, Process: "operator", Verb: "create", After: bucket,
			Object: sim.Ref{Kind: "Bucket", Name: name, UID: name}})
	}
	for _, b := range judge.Violations() {
		fmt.Println(b)
	}
	// Output:
	// one-bucket-per-claim at 1: data and data-2 are both for web
}
