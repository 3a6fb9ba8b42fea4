package usage

import (
	corev1 "k8s.io/api/core/v1"
)

// Equal reports whether two lists have the same names with the same values.
func Equal(a, b corev1.ResourceList) bool {
	if len(a) != len(b) {
		return false
	}
	for name, n := range a {
		if m, ok := b[name]; !ok || n.Cmp(m) != 0 {
			return false
		}
	}
	return true
}

// Add adds a list to a sum.
func Add(sum, more corev1.ResourceList) {
	for name, n := range more {
		total := sum[name].DeepCopy()
		total.Add(n)
		sum[name] = total
	}
}
