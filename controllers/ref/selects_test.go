package ref_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/threelaws/threelaws/controllers/ref"
)

// Selects says what apimachinery's own selectors say.
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
			if got := ref.Selects(s, have); got != (err == nil && want.Matches(labels.Set(have))) {
				t.Errorf("%v selects %v: %v", s, have, got)
			}
		}
	}
}
