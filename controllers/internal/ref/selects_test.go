package ref_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/threelaws/threelaws/controllers/internal/ref"
)

func TestSelects(t *testing.T) {
	in := metav1.LabelSelectorRequirement{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{"web", ""}}
	for _, s := range []*metav1.LabelSelector{nil, {}, {MatchLabels: map[string]string{"app": "web"}},
		{MatchLabels: map[string]string{"app": ""}}, {MatchLabels: map[string]string{"app": "web", "tier": "x"}},
		{MatchExpressions: []metav1.LabelSelectorRequirement{in}},
		{MatchLabels: map[string]string{"tier": "x"}, MatchExpressions: []metav1.LabelSelectorRequirement{in}},
		{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Beside"}}}} {
		want, err := metav1.LabelSelectorAsSelector(s)
		for _, have := range []map[string]string{nil, {"app": ""}, {"app": "web"}, {"app": "db"}, {"tier": "x"},
			{"app": "web", "tier": "x"}, {"app": "web", "tier": "y"}} {
			matches := err == nil && want.Matches(labels.Set(have))
			if got := ref.Selects(s, have); got != matches {
				t.Errorf("%v selects %v: %v", s, have, got)
			}
			if got := ref.SelectsSome(s, have); got != (matches && !want.Empty()) {
				t.Errorf("%v selects %v of some: %v", s, have, got)
			}
		}
	}
}

func TestParse(t *testing.T) {
	words := []string{"", "a", "web-1", "-a", "a-", "A9", "a.b", "a/b", "x y", "ä", strings.Repeat("n", 63),
		strings.Repeat("n", 64), "a.b/c", "A.b/c", "a..b/c", ".b/c", "/c", "a.b/", "a/b/c", "a-.b/c",
		strings.Repeat("n", 64) + "/c", strings.Repeat("a.", 130) + "b/c", "batch.kubernetes.io/controller-uid"}
	sets := []*metav1.LabelSelector{nil, {}, {MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "a", Operator: metav1.LabelSelectorOpExists}}}}
	for _, k := range words {
		for _, v := range words {
			sets = append(sets, &metav1.LabelSelector{MatchLabels: map[string]string{k: v, "z": "1"}})
		}
	}
	for _, s := range sets {
		got, err := ref.Parse(s)
		want, refused := metav1.LabelSelectorAsSelector(s)
		if (err == nil) != (refused == nil) || err == nil && got.String() != want.String() {
			t.Errorf("%v: got %v, %v; want %v, %v", s, got, err, want, refused)
		}
		some, err := ref.ParseSome(s)
		none := s == nil || refused != nil || want.Empty()
		if (some == nil) != none || (err == nil) != (refused == nil) {
			t.Errorf("%v: some %v, %v; want none %v, %v", s, some, err, none, refused)
		}
	}
}
