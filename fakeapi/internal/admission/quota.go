// Package admission is what the server's admission plugins make of an object, or
// refuse it for, because of what else there is: quotas, limit ranges, classes. Its
// functions get that as values and know neither requests nor the store. What they
// refuse is the reason alone; the status around it is the server's.
//
// Each function is the plugin of kube-apiserver v1.36.3 that its comment names, and the
// cases of area admission among the recorded ones show it.
package admission

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/internal/usage"
)

// Charge is a write that may use some of what quotas limit.
type Charge struct {
	Of          schema.GroupResource
	Subresource string
	Obj, Old    runtime.Object // Old is nil where an object is created
	Now         time.Time
}

// Costs says whether any quota may have to be asked: many writes use nothing. It is
// Handles of the evaluators in pkg/quota/v1/evaluator/core.
func (c *Charge) Costs() bool {
	if c.Of.Resource == "events" && (c.Of.Group == "" || c.Of.Group == "events.k8s.io") {
		return false
	}
	if c.Old == nil {
		return c.Subresource == ""
	}
	switch obj := c.Obj.(type) {
	case *corev1.Pod:
		old, ok := c.Old.(*corev1.Pod)
		return ok && (c.Subresource == "resize" || c.Subresource == "" && ends(obj) != ends(old))
	case *corev1.Service:
		return c.Subresource == ""
	case *corev1.PersistentVolumeClaim:
		return c.Subresource == "" || c.Subresource == "status"
	}
	return false
}

func ends(pod *corev1.Pod) bool { return pod.Spec.ActiveDeadlineSeconds != nil }

// Spend charges a write to the quotas of its namespace, which stay as they are. It
// returns for each of them what is used of it afterwards, nil where that does not
// change, or why the write is refused, with nothing charged. It is CheckRequest of
// the ResourceQuota plugin. A status that nobody has written limits nothing
// (admission/quota-status-unknown).
func (c *Charge) Spend(quotas []*corev1.ResourceQuota) ([]corev1.ResourceList, error) {
	governing := make([]int, 0, 1)
	for i, q := range quotas {
		measured, doubtful := c.look(q)
		if !measured || !usage.Governs(q, c.Obj) {
			continue
		}
		if doubtful {
			if err := c.refusal(q); err != nil {
				return nil, err
			}
		}
		governing = append(governing, i)
	}
	if len(governing) == 0 {
		return nil, nil
	}
	whole := usage.Of(c.Of, c.Obj, c.Now)
	if below := negative(whole); len(below) > 0 {
		return nil, fmt.Errorf("quota usage is negative for resource(s): %s", join(below))
	}
	var before usage.Amounts
	if c.Old != nil {
		before = usage.Of(c.Of, c.Old, c.Now)
	}
	charged := make([]corev1.ResourceList, len(quotas))
	for _, i := range governing {
		more := whole
		if c.Old != nil && usage.Governs(quotas[i], c.Old) {
			more = beyond(whole, before)
		}
		used, err := spend(quotas[i], more, c.Subresource != "status")
		if err != nil {
			return nil, err
		}
		charged[i] = used
	}
	return charged, nil
}

// look says whether the object is measured by some name of a quota, and whether one of those
// may be a reason to refuse it whatever it uses.
func (c *Charge) look(q *corev1.ResourceQuota) (measured, doubtful bool) {
	for name := range q.Status.Hard { //detcheck:ordered both results only turn true
		if !usage.Measures(c.Of, name) {
			continue
		}
		measured = true
		if _, known := q.Status.Used[name]; !known || leftOpen(name, c.Obj) {
			doubtful = true
		}
	}
	return measured, doubtful
}

// refusal is why a quota refuses the object whatever it uses, if it does.
func (c *Charge) refusal(q *corev1.ResourceQuota) error {
	names := c.measured(q.Status.Hard)
	if err := unspecified(q.Name, names, c.Obj); err != nil {
		return err
	}
	for _, name := range names {
		if _, known := q.Status.Used[name]; !known {
			return fmt.Errorf("status unknown for quota: %s, resources: %s", q.Name, join(names))
		}
	}
	return nil
}

// measured are the names of a quota that the object is measured by, sorted.
func (c *Charge) measured(hard corev1.ResourceList) []corev1.ResourceName {
	names := make([]corev1.ResourceName, 0, len(hard))
	for name := range hard { //detcheck:ordered sorted below
		if usage.Measures(c.Of, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// spend is what is used of one quota when more is used of what it limits, or why that
// is too much. Nil says that it is none of what the quota limits.
func spend(q *corev1.ResourceQuota, more usage.Amounts, limited bool) (corev1.ResourceList, error) {
	var used corev1.ResourceList
	var exceeded []corev1.ResourceName
	for i := range more {
		name, n := more[i].Name, &more[i].N
		hard, ok := q.Status.Hard[name]
		if !ok || n.IsZero() {
			continue
		}
		if used == nil {
			used = maps.Clone(q.Status.Used)
		}
		total := used[name].DeepCopy() // there is one: what is measured and unknown was refused
		total.Add(*n)
		used[name] = total
		if total.Cmp(hard) > 0 {
			exceeded = append(exceeded, name)
		}
	}
	if limited && len(exceeded) > 0 {
		slices.Sort(exceeded)
		asked := func(name corev1.ResourceName) resource.Quantity { return *more.Get(name) }
		return nil, fmt.Errorf("exceeded quota: %s, requested: %s, used: %s, limited: %s", q.Name,
			show(asked, exceeded), show(of(q.Status.Used), exceeded), show(of(q.Status.Hard), exceeded))
	}
	return used, nil
}

// beyond is what the amounts are more than others; less is none.
func beyond(now, before usage.Amounts) usage.Amounts {
	var out usage.Amounts
	for i := range now {
		n := now[i].N.DeepCopy()
		if was := before.Get(now[i].Name); was != nil {
			n.Sub(*was)
		}
		if n.Sign() > 0 {
			out = append(out, usage.Amount{Name: now[i].Name, N: n})
		}
	}
	return out
}

func negative(list usage.Amounts) (names []corev1.ResourceName) {
	for i := range list {
		if list[i].N.Sign() < 0 {
			names = append(names, list[i].Name)
		}
	}
	slices.Sort(names)
	return names
}

func of(list corev1.ResourceList) func(corev1.ResourceName) resource.Quantity {
	return func(name corev1.ResourceName) resource.Quantity { return list[name] }
}

func show(amount func(corev1.ResourceName) resource.Quantity, names []corev1.ResourceName) string {
	parts := make([]string, len(names))
	for i, name := range names {
		n := amount(name)
		parts[i] = string(name) + "=" + n.String()
	}
	return strings.Join(parts, ",")
}

func join(names []corev1.ResourceName) string {
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = string(name)
	}
	return strings.Join(parts, ",")
}
