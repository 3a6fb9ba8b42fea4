// Package quotausage measures how much of a ResourceQuota's resources an object uses. The server and the quota
// controller both use it, so that they agree.
//
// It does not count resources that an in-place resize of a running Pod has allocated.
package quotausage

import (
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// storageClass is the middle of quota names such as "gold.storageclass.storage.k8s.io/requests.storage".
const storageClass = ".storageclass.storage.k8s.io/"

// Of returns the usage of an object, by the names in a quota's spec.hard.
func Of(of schema.GroupResource, obj runtime.Object, now time.Time) Amounts {
	out := make(Amounts, 1, 8)
	out[0] = Amount{CountOf(of), one()}
	if of.Group != "" {
		return out
	}
	switch o := obj.(type) {
	case *corev1.Pod:
		if !ended(o) && !writtenOff(o, now) {
			ofPod(o, &out)
		}
	case *corev1.Service:
		ofService(o, &out)
	case *corev1.PersistentVolumeClaim:
		ofClaim(o, &out)
	default:
		if Measures(of, corev1.ResourceName(of.Resource)) {
			out.set(corev1.ResourceName(of.Resource), one())
		}
	}
	return out
}

func one() resource.Quantity { return *resource.NewQuantity(1, resource.DecimalSI) }

func ofService(svc *corev1.Service, out *Amounts) {
	out.set(corev1.ResourceServices, one())
	ports, balancers := 0, int64(0)
	switch svc.Spec.Type {
	case corev1.ServiceTypeNodePort:
		ports = len(svc.Spec.Ports)
	case corev1.ServiceTypeLoadBalancer:
		ports, balancers = len(svc.Spec.Ports), 1
		if own := svc.Spec.AllocateLoadBalancerNodePorts; own != nil && !*own {
			ports = 0
			for i := range svc.Spec.Ports {
				if svc.Spec.Ports[i].NodePort != 0 {
					ports++
				}
			}
		}
	}
	out.set(corev1.ResourceServicesNodePorts, *resource.NewQuantity(int64(ports), resource.DecimalSI))
	out.set(corev1.ResourceServicesLoadBalancers, *resource.NewQuantity(balancers, resource.DecimalSI))
}

// ofClaim adds the usage of a claim: its request, or the larger size that a failed resize has allocated.
func ofClaim(c *corev1.PersistentVolumeClaim, out *Amounts) {
	class := ClassOf(c)
	put := func(name corev1.ResourceName, n resource.Quantity) {
		out.set(name, n)
		if class != "" {
			out.set(corev1.ResourceName(class+storageClass)+name, n)
		}
	}
	put(corev1.ResourcePersistentVolumeClaims, one())
	n, ok := c.Spec.Resources.Requests[corev1.ResourceStorage]
	if !ok {
		return
	}
	if taken, ok := c.Status.AllocatedResources[corev1.ResourceStorage]; ok && taken.Cmp(n) > 0 {
		n = taken
	}
	n = n.DeepCopy()
	n.RoundUp(0)
	put(corev1.ResourceRequestsStorage, n)
}

// ClassOf returns the storage class of a claim. The old annotation has precedence over the field.
func ClassOf(c *corev1.PersistentVolumeClaim) string {
	if class, ok := c.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return class
	}
	if c.Spec.StorageClassName != nil {
		return *c.Spec.StorageClassName
	}
	return ""
}

// ofPod adds the usage of a Pod that has not ended.
func ofPod(pod *corev1.Pod, out *Amounts) {
	out.set(corev1.ResourcePods, one())
	asked, limits := total(pod, asks), total(pod, limitsTo)
	asked.add(pod.Spec.Overhead)
	//detcheck:ordered amounts have no order
	for name, n := range pod.Spec.Overhead {
		if limits.Get(name) != nil {
			limits.plus(name, n)
		}
	}
	for i := range asked {
		name, n := asked[i].Name, asked[i].N
		switch {
		case name == corev1.ResourceCPU, name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage,
			strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix):
			out.set(name, n)
			out.set(requested(name), n)
		case extended(string(name)):
			out.set(requests+name, n)
		}
	}
	for _, l := range [...]struct{ name, limit corev1.ResourceName }{
		{corev1.ResourceCPU, corev1.ResourceLimitsCPU}, {corev1.ResourceMemory, corev1.ResourceLimitsMemory},
		{corev1.ResourceEphemeralStorage, corev1.ResourceLimitsEphemeralStorage}} {
		if n := limits.Get(l.name); n != nil {
			out.set(l.limit, *n)
		}
	}
}

// requested returns the name under which quotas limit requests of a resource.
func requested(name corev1.ResourceName) corev1.ResourceName {
	switch name {
	case corev1.ResourceCPU:
		return corev1.ResourceRequestsCPU
	case corev1.ResourceMemory:
		return corev1.ResourceRequestsMemory
	}
	return requests + name
}

func asks(r *corev1.ResourceRequirements) corev1.ResourceList     { return r.Requests }
func limitsTo(r *corev1.ResourceRequirements) corev1.ResourceList { return r.Limits }

// total returns the requests, or the limits, of a whole Pod: the sum of all containers and sidecars, or the need of one
// init container with the sidecars before it, if that is larger. The Pod's spec.resources has precedence.
func total(pod *corev1.Pod, of func(*corev1.ResourceRequirements) corev1.ResourceList) (sum Amounts) {
	for i := range pod.Spec.Containers {
		sum.add(of(&pod.Spec.Containers[i].Resources))
	}
	if len(pod.Spec.InitContainers) > 0 {
		most := begin(pod, &sum, of)
		sum.atLeast(most)
	}
	if own := pod.Spec.Resources; own != nil {
		//detcheck:ordered amounts have no order
		for name, n := range of(own) {
			sum.set(name, n)
		}
	}
	return sum
}

// begin adds all sidecars to sum. It returns the largest need of an init container plus the sidecars before it.
func begin(pod *corev1.Pod, sum *Amounts,
	of func(*corev1.ResourceRequirements) corev1.ResourceList) (most Amounts) {
	var beside Amounts
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		var need Amounts
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			sum.add(of(&c.Resources))
			beside.add(of(&c.Resources))
		} else {
			need.add(of(&c.Resources))
		}
		need.addAll(beside)
		most.atLeast(need)
	}
	return most
}

func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// writtenOff reports whether a terminating Pod has exceeded its grace period, for example because its node is lost.
func writtenOff(pod *corev1.Pod, now time.Time) bool {
	return pod.DeletionTimestamp != nil && pod.DeletionGracePeriodSeconds != nil && UntilWrittenOff(pod, now) == 0
}

// UntilWrittenOff returns how long a terminating Pod still counts. For other Pods it returns 0.
func UntilWrittenOff(pod *corev1.Pod, now time.Time) time.Duration {
	if pod.DeletionTimestamp == nil || pod.DeletionGracePeriodSeconds == nil {
		return 0
	}
	end := pod.DeletionTimestamp.Add(time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second)
	return max(0, end.Sub(now)+1)
}

// TotalOf returns the requests and limits of a whole Pod, to which a LimitRange of type Pod applies.
func TotalOf(pod *corev1.Pod) (requests, limits corev1.ResourceList) {
	return total(pod, asks).list(), total(pod, limitsTo).list()
}

// Amounts lists used resources, without duplicate names, in no particular order. It is a list because there are few
// resources: a list is faster than a map, and every write that may use a quota is measured.
type Amounts []Amount

// Amount is the used amount of one resource, by its name in quotas.
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

func (a *Amounts) set(name corev1.ResourceName, n resource.Quantity) {
	if have := a.Get(name); have != nil {
		*have = n
		return
	}
	*a = append(*a, Amount{name, n})
}

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

func (a *Amounts) addAll(more Amounts) {
	for i := range more {
		a.plus(more[i].Name, more[i].N)
	}
}

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
