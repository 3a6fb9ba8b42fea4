package meta

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func owned(by ...types.UID) *metav1.ObjectMeta {
	m := &metav1.ObjectMeta{}
	for _, uid := range by {
		m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{UID: uid})
	}
	return m
}

func TestSameRefsBut(t *testing.T) {
	if !SameRefsBut(owned("b"), owned("b", "a"), "a") || !SameRefsBut(owned("a", "b"), owned("b"), "a") {
		t.Error("its own reference makes a difference")
	}
	if SameRefsBut(owned("b"), owned("a"), "a") || SameRefsBut(owned("b"), owned("c"), "a") {
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
		if got := SameFinalizersBut(c.a, c.b, []string{"own"}); got != c.want {
			t.Errorf("%v, %v: %v", c.a, c.b, got)
		}
	}
}
