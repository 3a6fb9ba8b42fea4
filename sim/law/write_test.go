package law

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

func custom(spec any, owners ...any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"kind": "Widget", "spec": map[string]any{"n": spec},
		"metadata": map[string]any{"name": "w", "uid": "u", "ownerReferences": owners},
	}}
}

func TestOnlyRefs(t *testing.T) {
	owner := map[string]any{"apiVersion": "v1", "kind": "ReplicaSet", "name": "a", "uid": "a-1", "controller": true}
	p := pod("p", nil)
	a := set("a", 1)
	for _, c := range []struct {
		name          string
		before, after any
		want          bool
	}{
		{"custom, a reference", custom(int64(1)), custom(int64(1), owner), true},
		{"custom, a field too", custom(int64(1)), custom(int64(2), owner), false},
		{"a reference", p, p.owned(controlledBy(a)), true},
		{"a label", p, p.labelled("db"), false},
		{"an annotation", p, p.as(func(o *thing) { o.Annotations = map[string]string{"a": "b"} }), false},
		{"a field", p, p.as(func(o *thing) { o.Node = "n" }), false},
		{"a deletion", p, p.dying("x"), false},
		{"a creation", nil, p, false},
		{"another kind of value", p, custom(int64(1)), false},
	} {
		if got := (&Write{Actor: &Actor{}, Before: meta.Of(c.before),
			After: meta.Of(c.after)}).onlyRefs(&sim.Record{Before: c.before, After: c.after}); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestFirstIsTheFirstThatFails(t *testing.T) {
	j := NewJudge(nil, All())
	for _, s := range []Strength{Committed, Informed, Committed} {
		j.keep(Breach{Law: all[0], Strength: s, Record: len(j.breaches)})
	}
	if f := j.First(); f == nil || f.Record != 1 {
		t.Errorf("first is %v, want record 1", f)
	}
	j.Since(2)
	if f := j.First(); f != nil {
		t.Errorf("first since 2 is %v, want none", f)
	}
	j.Strict = true
	if f := j.First(); f == nil || f.Record != 2 {
		t.Errorf("first under strict is %v, want record 2", f)
	}
}
