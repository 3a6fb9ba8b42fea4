package usage

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Amounts lists used resources, each name once, in no order. There are few, and each write that may cost something is
// measured: a list is cheaper than a map.
type Amounts []Amount

// Amount is the usage of one name in a quota.
type Amount struct {
	Name corev1.ResourceName
	N    resource.Quantity
}

// AddTo adds the amounts to a sum.
func (a Amounts) AddTo(sum corev1.ResourceList) {
	for i := range a {
		total := sum[a[i].Name].DeepCopy()
		total.Add(a[i].N)
		sum[a[i].Name] = total
	}
}

// list returns a copy of the amounts as a ResourceList.
func (a Amounts) list() corev1.ResourceList {
	out := make(corev1.ResourceList, len(a))
	for i := range a {
		out[a[i].Name] = a[i].N
	}
	return out
}

// Get returns the amount of a name, or nil.
func (a Amounts) Get(name corev1.ResourceName) *resource.Quantity {
	for i := range a {
		if a[i].Name == name {
			return &a[i].N
		}
	}
	return nil
}

// set sets the amount of a name.
func (a *Amounts) set(name corev1.ResourceName, n resource.Quantity) {
	if have := a.Get(name); have != nil {
		*have = n
		return
	}
	*a = append(*a, Amount{name, n})
}

// add adds a list to the amounts.
func (a *Amounts) add(more corev1.ResourceList) {
	//detcheck:ordered amounts have no order
	for name, n := range more {
		a.plus(name, n)
	}
}

func (a *Amounts) plus(name corev1.ResourceName, n resource.Quantity) {
	var total resource.Quantity
	if have := a.Get(name); have != nil {
		total = have.DeepCopy()
	}
	total.Add(n)
	a.set(name, total)
}

// addAll is add for other amounts.
func (a *Amounts) addAll(more Amounts) {
	for i := range more {
		a.plus(more[i].Name, more[i].N)
	}
}

// atLeast raises the amounts to at least these.
func (a *Amounts) atLeast(least Amounts) {
	for i := range least {
		if have := a.Get(least[i].Name); have == nil || least[i].N.Cmp(*have) > 0 {
			a.set(least[i].Name, least[i].N)
		}
	}
}

// Equal reports whether two lists have the same names with the same values.
func Equal(a, b corev1.ResourceList) bool {
	return maps.EqualFunc(a, b, func(x, y resource.Quantity) bool { return x.Cmp(y) == 0 })
}
