package ref

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Selects reports whether a label selector matches labels. None matches nothing, an empty
// one everything, and one that nobody can read, as an earlier version of the server may
// have stored it, nothing. Routes ask it of every owner for every event, so it does not
// parse what is no more than labels.
func Selects(s *metav1.LabelSelector, have map[string]string) bool {
	if s == nil {
		return false
	}
	if len(s.MatchExpressions) == 0 {
		return Contains(have, s.MatchLabels)
	}
	all, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && all.Matches(labels.Set(have))
}

// Contains reports whether labels have all that are wanted of them.
func Contains(have, want map[string]string) bool {
	for k, v := range want {
		if got, ok := have[k]; !ok || got != v {
			return false
		}
	}
	return true
}
