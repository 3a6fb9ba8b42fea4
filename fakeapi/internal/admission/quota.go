// Package admission contains admission plugins that need other stored objects, such as quotas, LimitRanges and classes.
// Callers pass these objects. A function returns only the text of an error, and the server adds the HTTP status.
//
// The comment of each function names its plugin of kube-apiserver. The recorded cases in
// fakeapi/testdata/vectors/admission test the functions.
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

	"github.com/threelaws/threelaws/internal/quotausage"
)

// limitRangerAnnotation lists the fields that the LimitRanger plugin has set.
const limitRangerAnnotation = "kubernetes.io/limit-ranger"

// LimitDefaults sets missing requests and limits of a new Pod's containers, and an annotation that lists what it set.
// It does the same as PodMutateLimitFunc of the LimitRanger plugin. The first LimitRange with a default for a field
// sets the field, but the annotation lists only what the last LimitRange has set (admission/limitrange-two).
func LimitDefaults(l *corev1.LimitRange, pod *corev1.Pod) {
	asks, most := corev1.ResourceList{}, corev1.ResourceList{}
	for i := range l.Spec.Limits {
		if item := &l.Spec.Limits[i]; item.Type == corev1.LimitTypeContainer {
			maps.Copy(asks, item.DefaultRequest)
			maps.Copy(most, item.Default)
		}
	}
	var said []string
	set := func(c *corev1.Container, what string) {
		var asked, limited []string
		c.Resources.Limits, limited = complete(c.Resources.Limits, most)
		c.Resources.Requests, asked = complete(c.Resources.Requests, asks)
		if len(asked) > 0 {
			said = append(said, strings.Join(asked, ", ")+" request for "+what+" "+c.Name)
		}
		if len(limited) > 0 {
			said = append(said, strings.Join(limited, ", ")+" limit for "+what+" "+c.Name)
		}
	}
	for i := range pod.Spec.Containers {
		set(&pod.Spec.Containers[i], "container")
	}
	for i := range pod.Spec.InitContainers {
		set(&pod.Spec.InitContainers[i], "init container")
	}
	if len(said) > 0 {
		annotations := map[string]string{}
		maps.Copy(annotations, pod.Annotations)
		annotations[limitRangerAnnotation] = "LimitRanger plugin set: " + strings.Join(said, "; ")
		pod.Annotations = annotations
	}
}

// complete returns list with the entries that only from has, and the sorted names of these entries.
func complete(list, from corev1.ResourceList) (corev1.ResourceList, []string) {
	var added []string
	for name := range from { //detcheck:ordered sorted below
		if _, ok := list[name]; !ok {
			added = append(added, string(name))
		}
	}
	if len(added) == 0 {
		return list, nil
	}
	slices.Sort(added)
	all := maps.Clone(list)
	if all == nil {
		all = corev1.ResourceList{}
	}
	for _, name := range added {
		all[corev1.ResourceName(name)] = from[corev1.ResourceName(name)].DeepCopy()
	}
	return all, added
}

// Limit returns an error if a new Pod or claim violates one of the LimitRanges. It is PodValidateLimitFunc and
// PersistentVolumeClaimValidateLimitFunc of the LimitRanger plugin, but checks resources in sorted order.
func Limit(ranges []*corev1.LimitRange, obj runtime.Object) error {
	for _, l := range ranges {
		var found findings
		for i := range l.Spec.Limits {
			switch o := obj.(type) {
			case *corev1.Pod:
				found.pod(&l.Spec.Limits[i], o)
			case *corev1.PersistentVolumeClaim:
				found.claim(&l.Spec.Limits[i], o)
			}
		}
		if err := found.err(); err != nil {
			return err
		}
	}
	return nil
}

func (f *findings) pod(item *corev1.LimitRangeItem, pod *corev1.Pod) {
	switch item.Type {
	case corev1.LimitTypeContainer:
		for _, cs := range [...][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
			for i := range cs {
				f.all(item, cs[i].Resources.Requests, cs[i].Resources.Limits)
			}
		}
	case corev1.LimitTypePod:
		requests, limits := quotausage.TotalOf(pod)
		f.all(item, requests, limits)
	}
}

func (f *findings) claim(item *corev1.LimitRangeItem, claim *corev1.PersistentVolumeClaim) {
	if item.Type != corev1.LimitTypePersistentVolumeClaim {
		return
	}
	asked := claim.Spec.Resources.Requests
	for _, name := range names(item.Min) {
		f.atLeast(newBound(item, item.Min, name, asked, nil))
	}
	for _, name := range names(item.Max) {
		f.asksAtMost(newBound(item, item.Max, name, asked, nil))
	}
}

func names(list corev1.ResourceList) []corev1.ResourceName {
	return slices.Sorted(maps.Keys(list))
}

// Charge describes a write that may increase the usage of a ResourceQuota.
type Charge struct {
	Of          schema.GroupResource
	Subresource string
	Obj, Old    runtime.Object // Old is nil for a create
	Now         time.Time
}

// Costs reports whether the write may change a quota's usage, like Handles in pkg/quota/v1/evaluator/core.
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

// Spend charges a write to the quotas of its namespace. It returns the new usage of each quota, or nil for a quota with
// unchanged usage. If it returns an error, nothing is charged. Spend does the same as CheckRequest of the ResourceQuota
// plugin. A quota without a status has no effect (admission/quota-status-unknown).
func (c *Charge) Spend(quotas []*corev1.ResourceQuota) ([]corev1.ResourceList, error) {
	governing := make([]int, 0, 1)
	for i, q := range quotas {
		measured, doubtful := c.look(q)
		if !measured || !quotausage.Governs(q, c.Obj) {
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
	whole := quotausage.Of(c.Of, c.Obj, c.Now)
	if below := negative(whole); len(below) > 0 {
		return nil, fmt.Errorf("quota usage is negative for resource(s): %s", join(below))
	}
	var before quotausage.Amounts
	if c.Old != nil {
		before = quotausage.Of(c.Of, c.Old, c.Now)
	}
	charged := make([]corev1.ResourceList, len(quotas))
	for _, i := range governing {
		more := whole
		if c.Old != nil && quotausage.Governs(quotas[i], c.Old) {
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

// look reports whether a quota limits a resource of the object, and whether refusal may return an error for the quota.
func (c *Charge) look(q *corev1.ResourceQuota) (measured, doubtful bool) {
	for name := range q.Status.Hard { //detcheck:ordered both results only turn true
		if !quotausage.Measures(c.Of, name) {
			continue
		}
		measured = true
		if _, known := q.Status.Used[name]; !known || leftOpen(name, c.Obj) {
			doubtful = true
		}
	}
	return measured, doubtful
}

// refusal returns an error if the Pod does not set a limited resource, or if the usage of a resource is unknown.
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

// measured returns the sorted names of those resources in hard that objects of the written kind use.
func (c *Charge) measured(hard corev1.ResourceList) []corev1.ResourceName {
	names := make([]corev1.ResourceName, 0, len(hard))
	for name := range hard { //detcheck:ordered sorted below
		if quotausage.Measures(c.Of, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// spend returns a quota's usage after a write; nil if unchanged. If limited is set, exceeding the quota is an error.
func spend(q *corev1.ResourceQuota, more quotausage.Amounts, limited bool) (corev1.ResourceList, error) {
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
		total := used[name].DeepCopy() // used has name, because refusal returned no error
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

// beyond returns the amounts by which now is higher than before.
func beyond(now, before quotausage.Amounts) quotausage.Amounts {
	var out quotausage.Amounts
	for i := range now {
		n := now[i].N.DeepCopy()
		if was := before.Get(now[i].Name); was != nil {
			n.Sub(*was)
		}
		if n.Sign() > 0 {
			out = append(out, quotausage.Amount{Name: now[i].Name, N: n})
		}
	}
	return out
}

func negative(list quotausage.Amounts) (names []corev1.ResourceName) {
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
