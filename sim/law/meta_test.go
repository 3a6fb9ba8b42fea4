package law_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

func owned(by ...types.UID) *metav1.ObjectMeta {
	m := &metav1.ObjectMeta{}
	for _, uid := range by {
		m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{UID: uid})
	}
	return m
}

func TestSameRefsBut(t *testing.T) {
	if !meta.SameRefsBut(owned("b"), owned("b", "a"), "a") || !meta.SameRefsBut(owned("a", "b"), owned("b"), "a") {
		t.Error("its own reference makes a difference")
	}
	if meta.SameRefsBut(owned("b"), owned("a"), "a") || meta.SameRefsBut(owned("b"), owned("c"), "a") {
		t.Error("another's reference makes none")
	}
}

func TestSameFinalizersBut(t *testing.T) {
	for _, c := range []struct {
		a, b []string
		want bool
	}{
		{nil, nil, true},
		{[]string{"x"}, []string{"x", "own"}, true},
		{[]string{"own", "y", "x"}, []string{"x", "y"}, true},
		{[]string{"x"}, []string{"y"}, false},
		{[]string{"x"}, nil, false},
	} {
		if got := meta.SameFinalizersBut(c.a, c.b, []string{"own"}); got != c.want {
			t.Errorf("%v, %v: %v", c.a, c.b, got)
		}
	}
}
