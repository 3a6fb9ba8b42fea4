package ref

import (
	"strings"

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

// Parse is metav1.LabelSelectorAsSelector for who asks at every sync: what is no more than
// plain labels is not validated again, which takes longer than all else that is done with it.
func Parse(s *metav1.LabelSelector) (labels.Selector, error) {
	if s == nil || len(s.MatchExpressions) > 0 || !plain(s.MatchLabels) {
		return metav1.LabelSelectorAsSelector(s)
	}
	if len(s.MatchLabels) == 0 {
		return labels.Everything(), nil
	}
	return labels.SelectorFromValidatedSet(s.MatchLabels), nil
}

// plain reports whether the keys and values of labels are such that nobody finds fault
// with them: short, of letters, digits and inner dashes, and of a domain if of any.
func plain(set map[string]string) bool {
	for k, v := range set { //detcheck:ordered all have to be plain
		domain, name, of := strings.Cut(k, "/")
		if !of {
			domain, name = "", k
		}
		if name == "" || of && !plainDomain(domain) || !plainWord(name) || !plainWord(v) {
			return false
		}
	}
	return true
}

const longest = 63 // of a label's name, of its value, and of each part of its domain

func plainWord(s string) bool {
	for i := range len(s) {
		c := s[i]
		inner := c == '-' && i > 0 && i < len(s)-1
		if !inner && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return len(s) <= longest
}

func plainDomain(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		if part == "" || !plainWord(part) || strings.ToLower(part) != part {
			return false
		}
	}
	return len(s) <= 4*longest
}

// Contains reports whether labels have all that are wanted of them.
func Contains(have, want map[string]string) bool {
	for k, v := range want { //detcheck:ordered all have to be there
		if got, ok := have[k]; !ok || got != v {
			return false
		}
	}
	return true
}
