package ref

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Selects reports whether a label selector matches labels. A selector matches nothing if it is nil, or if it cannot be
// parsed (an earlier server may have stored it). An empty selector matches everything. To be fast, Selects parses only
// selectors with expressions. Routes call it for every owner at every event.
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

// SelectsSome is like [Selects], but an empty selector matches nothing. It is for owners that must never own every
// object (RULES G70).
func SelectsSome(s *metav1.LabelSelector, have map[string]string) bool {
	return s != nil && len(s.MatchLabels)+len(s.MatchExpressions) > 0 && Selects(s, have)
}

// ParseSome is like [Parse], but returns nil for a nil or empty selector, which matches nothing in [SelectsSome].
func ParseSome(s *metav1.LabelSelector) (labels.Selector, error) {
	parsed, err := Parse(s)
	if err != nil || s == nil || parsed.Empty() {
		return nil, err
	}
	return parsed, nil
}

// Parse is like metav1.LabelSelectorAsSelector, but does not validate plain labels. Validation would take longer than
// all other work with the selector in a reconcile.
func Parse(s *metav1.LabelSelector) (labels.Selector, error) {
	if s == nil || len(s.MatchExpressions) > 0 || !plain(s.MatchLabels) {
		return metav1.LabelSelectorAsSelector(s)
	}
	if len(s.MatchLabels) == 0 {
		return labels.Everything(), nil
	}
	return labels.SelectorFromValidatedSet(s.MatchLabels), nil
}

// plain reports whether labels are certainly valid: short words of letters, digits and inner dashes, with a valid
// domain.
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

const longest = 63 // the maximum length of a label's name or value, and of a part of its domain

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

// Contains reports whether labels include all wanted ones.
func Contains(have, want map[string]string) bool {
	for k, v := range want { //detcheck:ordered all have to be there
		if got, ok := have[k]; !ok || got != v {
			return false
		}
	}
	return true
}
