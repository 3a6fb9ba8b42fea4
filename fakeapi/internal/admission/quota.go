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
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
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
		names := c.measured(q.Status.Hard)
		if len(names) == 0 || !usage.Governs(q, c.Obj) {
			continue
		}
		if err := unspecified(q.Name, names, c.Obj); err != nil {
			return nil, err
		}
		for _, name := range names {
			if _, known := q.Status.Used[name]; !known {
				return nil, fmt.Errorf("status unknown for quota: %s, resources: %s", q.Name, join(names))
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
	var before corev1.ResourceList
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

// measured are the names of a quota that the object is measured by, sorted.
func (c *Charge) measured(hard corev1.ResourceList) []corev1.ResourceName {
	names := make([]corev1.ResourceName, 0, len(hard))
	for name := range hard {
		if usage.Measures(c.Of, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// spend is what is used of one quota when more is used of what it limits, or why that
// is too much. Nil says that it is none of what the quota limits.
func spend(q *corev1.ResourceQuota, more corev1.ResourceList, limited bool) (corev1.ResourceList, error) {
	names := make([]corev1.ResourceName, 0, len(more))
	var exceeded []corev1.ResourceName
	for name, n := range more {
		if _, ok := q.Status.Hard[name]; ok && !n.IsZero() {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	slices.Sort(names)
	used := make(corev1.ResourceList, len(q.Status.Used))
	for name, n := range q.Status.Used {
		used[name] = n
	}
	for _, name := range names {
		n := used[name].DeepCopy()
		n.Add(more[name])
		used[name] = n
		if n.Cmp(q.Status.Hard[name]) > 0 {
			exceeded = append(exceeded, name)
		}
	}
	if limited && len(exceeded) > 0 {
		return nil, fmt.Errorf("exceeded quota: %s, requested: %s, used: %s, limited: %s", q.Name,
			show(more, exceeded), show(q.Status.Used, exceeded), show(q.Status.Hard, exceeded))
	}
	return used, nil
}

// beyond is what a list has more than another; less is none.
func beyond(now, before corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, name := range names(now) {
		n := now[name].DeepCopy()
		n.Sub(before[name])
		if n.Sign() > 0 {
			out[name] = n
		}
	}
	return out
}

func negative(list corev1.ResourceList) (names []corev1.ResourceName) {
	for name, n := range list {
		if n.Sign() < 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func show(list corev1.ResourceList, names []corev1.ResourceName) string {
	parts := make([]string, len(names))
	for i, name := range names {
		n := list[name]
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
