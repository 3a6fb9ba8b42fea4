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
func EphemeralContainers(p, old *corev1.Pod) (errs field.ErrorList) {
	path := specPath.Child("ephemeralContainers")
	others, names := map[string]bool{}, map[string]bool{}
	for _, list := range [...][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range list {
			others[list[i].Name], names[list[i].Name] = true, true
		}
	}
	volumes := map[string]bool{}
	for i := range p.Spec.Volumes {
		volumes[p.Spec.Volumes[i].Name] = true
	}
	for i := range p.Spec.EphemeralContainers {
		e, at := &p.Spec.EphemeralContainers[i], path.Index(i)
		errs = append(errs, validateContainer((*corev1.Container)(&e.EphemeralContainerCommon), volumes, path, i)...)
		if names[e.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), e.Name))
		}
		names[e.Name] = true
		if e.TargetContainerName != "" && !others[e.TargetContainerName] {
			errs = append(errs, field.NotFound(at.Child("targetContainerName"), e.TargetContainerName))
		}
	}
	for i := range old.Spec.EphemeralContainers {
		was := &old.Spec.EphemeralContainers[i]
		now := ephemeralNamed(p, was.Name)
		if now == nil {
			errs = append(errs, field.Forbidden(path,
				fmt.Sprintf("existing ephemeral containers %q may not be removed\n", was.Name)))
		} else if !equality.Semantic.DeepEqual(was, now) {
			errs = append(errs, field.Forbidden(path,
				fmt.Sprintf("existing ephemeral containers %q may not be changed\n%v", was.Name,
					diff.Diff(*was, *now))))
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
