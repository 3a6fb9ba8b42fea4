package validation

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validatePodResources checks what a Pod asks for as a whole, which is no less than its
// containers do.
func (p *podScope) validatePodResources(path *field.Path) (errs field.ErrorList) {
	r := p.spec.Resources
	if p.spec.OS != nil && p.spec.OS.Name == corev1.Windows {
		return field.ErrorList{field.Forbidden(path, "may not be set for a windows pod")}
	}
	if r.Claims != nil {
		errs = append(errs, field.Forbidden(path.Child("claims"), "claims may not be set for Resources at pod-level"))
	}
	errs = append(errs, validateRequirements(r, podResource, p.spec.ResourceClaims, path)...)
	asked := p.together(func(c *corev1.Container) corev1.ResourceList { return c.Resources.Requests })
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		most, ok := r.Requests[name]
		if sum := asked[name]; ok && sum.Cmp(most) > 0 {
			errs = append(errs, field.Invalid(path.Child("requests").Key(string(name)), most.String(),
				fmt.Sprintf("must be greater than or equal to aggregate container requests of %s", sum.String())))
		}
	}
	allowed := p.together(func(c *corev1.Container) corev1.ResourceList { return c.Resources.Limits })
	for _, name := range slices.Sorted(maps.Keys(allowed)) {
		most, ok := r.Limits[name]
		if sum := allowed[name]; ok && hugePages(name) && sum.Cmp(most) > 0 {
			errs = append(errs, field.Invalid(path.Child("limits").Key(string(name)), most.String(),
				fmt.Sprintf("must be greater than or equal to aggregate container limits of %s", sum.String())))
		}
	}
	for i := range p.spec.Containers {
		limits := p.spec.Containers[i].Resources.Limits
		for _, name := range slices.Sorted(maps.Keys(limits)) {
			most, ok := r.Limits[name]
			if own := limits[name]; ok && own.Cmp(most) > 0 {
				errs = append(errs, field.Invalid(
					path.Child("containers").Index(i).Key(string(name)).Child("limits"), own.String(),
					fmt.Sprintf("must be less than or equal to pod limits of %s", most.String())))
			}
		}
	}
	return errs
}

// together is what the containers need at most at one time: those that run together in
// sum, or one that runs before them beside those that stay.
func (p *podScope) together(of func(*corev1.Container) corev1.ResourceList) corev1.ResourceList {
	all, staying, first := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	add := func(to, what corev1.ResourceList) {
		for _, name := range slices.Sorted(maps.Keys(what)) {
			sum := to[name]
			sum.Add(what[name])
			to[name] = sum
		}
	}
	for i := range p.spec.Containers {
		add(all, of(&p.spec.Containers[i]))
	}
	for i := range p.spec.InitContainers {
		c := &p.spec.InitContainers[i]
		now := maps.Clone(staying)
		add(now, of(c))
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			add(all, of(c))
			staying = now
		}
		raise(first, now)
	}
	raise(all, first)
	return all
}

// raise makes each amount at least that of another list.
func raise(list, least corev1.ResourceList) {
	for _, name := range slices.Sorted(maps.Keys(least)) {
		if have, q := list[name], least[name]; have.Cmp(q) < 0 {
			list[name] = q
		}
	}
}
