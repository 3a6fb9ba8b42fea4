package validation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// EphemeralContainers: ephemeral containers may be added, each under a name of
// its own, and neither changed nor taken away.
func EphemeralContainers(p, old *corev1.Pod) field.ErrorList {
	errs := validatePod(p)
	path := specPath.Child("ephemeralContainers")
	for i := range old.Spec.EphemeralContainers {
		was := &old.Spec.EphemeralContainers[i]
		now := ephemeralNamed(p, was.Name)
		if now == nil {
			errs = append(errs, field.Forbidden(path,
				fmt.Sprintf("existing ephemeral containers %q may not be removed\n", was.Name)))
		} else if !equality.Semantic.DeepEqual(was, now) {
			errs = append(errs, field.Forbidden(path,
				fmt.Sprintf("existing ephemeral containers %q may not be changed\n%v", was.Name,
					diff.Diff(asShown(was), asShown(now)))))
		}
	}
	return errs
}

func ephemeralNamed(p *corev1.Pod, name string) *corev1.EphemeralContainer {
	for i := range p.Spec.EphemeralContainers {
		if p.Spec.EphemeralContainers[i].Name == name {
			return &p.Spec.EphemeralContainers[i]
		}
	}
	return nil
}
