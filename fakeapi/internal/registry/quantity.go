package registry

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// roundUp rounds quantities of resources up to thousandths, which is the finest that the
// real server stores of them.
func roundUp(lists ...*corev1.ResourceList) {
	for _, list := range lists {
		for name, q := range *list { //detcheck:ordered each value is rounded by itself
			was := q
			if q.RoundUp(resource.Milli); q.Cmp(was) != 0 {
				(*list)[name] = q
			}
		}
	}
}

// roundResources does it to what a container, or a Pod as a whole, asks for.
func roundResources(r *corev1.ResourceRequirements) {
	if r != nil {
		roundUp(&r.Limits, &r.Requests)
	}
}

func roundStatuses(lists ...[]corev1.ContainerStatus) {
	for _, list := range lists {
		for i := range list {
			roundUp(&list[i].AllocatedResources)
			roundResources(list[i].Resources)
		}
	}
}
