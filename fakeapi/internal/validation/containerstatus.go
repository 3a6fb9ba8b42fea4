package validation

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// keptTerminated: a container that has ended runs again only where it is to be restarted.
func keptTerminated(p, old *corev1.Pod) (errs field.ErrorList) {
	var stays field.ErrorList
	s, was := &p.Status, &old.Status
	stays = append(stays, stillTerminated(s.ContainerStatuses, was.ContainerStatuses, "containerStatuses",
		&old.Spec, old.Spec.Containers)...)
	stays = append(stays, stillTerminated(s.InitContainerStatuses, was.InitContainerStatuses, "initContainerStatuses",
		&old.Spec, old.Spec.InitContainers)...)
	if !restartAny(old.Spec.InitContainers) && !restartAny(old.Spec.Containers) {
		errs = stays
	}
	return append(errs, stillTerminated(s.EphemeralContainerStatuses, was.EphemeralContainerStatuses,
		"ephemeralContainerStatuses", &old.Spec, nil)...)
}

func stillTerminated(now, was []corev1.ContainerStatus, name string, spec *corev1.PodSpec,
	containers []corev1.Container) (errs field.ErrorList) {
	for i := range was {
		ended := was[i].State.Terminated
		if ended == nil {
			continue
		}
		j := slices.IndexFunc(now, func(s corev1.ContainerStatus) bool { return s.Name == was[i].Name })
		if j < 0 || now[j].State.Terminated != nil {
			continue
		}
		k := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == was[i].Name })
		if k < 0 || !restarts(&containers[k], spec.RestartPolicy, ended.ExitCode) {
			errs = append(errs, field.Forbidden(statusPath.Child(name).Index(i).Child("state"),
				"may not be transitioned to non-terminated state"))
		}
	}
	return errs
}

// restartAny says whether the end of one of the containers may restart all of the Pod's.
func restartAny(containers []corev1.Container) bool {
	return slices.ContainsFunc(containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.RestartPolicyRules, func(r corev1.ContainerRestartRule) bool {
			return r.Action == corev1.ContainerRestartRuleActionRestartAllContainers
		})
	})
}

// restarts says whether a container is started again that ended with a code: by its rules,
// by its own policy or by that of its Pod.
func restarts(c *corev1.Container, policy corev1.RestartPolicy, code int32) bool {
	if c.RestartPolicy != nil {
		for _, r := range c.RestartPolicyRules {
			if r.ExitCodes == nil || slices.Contains(r.ExitCodes.Values, code) !=
				(r.ExitCodes.Operator == corev1.ContainerRestartRuleOnExitCodesOpIn) {
				continue
			}
			if r.Action == corev1.ContainerRestartRuleActionRestart ||
				r.Action == corev1.ContainerRestartRuleActionRestartAllContainers {
				return true
			}
			break
		}
		policy = corev1.RestartPolicy(*c.RestartPolicy)
	}
	return policy == corev1.RestartPolicyAlways || policy == corev1.RestartPolicyOnFailure && code != 0
}

// validateExtendedClaim checks what was allocated for extended resources of containers.
func validateExtendedClaim(p *corev1.Pod) (errs field.ErrorList) {
	s := p.Status.ExtendedResourceClaimStatus
	if s == nil {
		return nil
	}
	path := statusPath.Child("extendedResourceClaimStatus")
	all := slices.Concat(p.Spec.Containers, p.Spec.InitContainers)
	mappings := path.Child("requestMappings")
	if len(s.RequestMappings) == 0 {
		errs = append(errs, field.Required(mappings, "at least one request mapping is required"))
	}
	for i, m := range s.RequestMappings {
		at := mappings.Index(i)
		if k := slices.IndexFunc(all, func(c corev1.Container) bool { return c.Name == m.ContainerName }); k < 0 {
			errs = append(errs, field.Invalid(at.Child("containerName"), m.ContainerName,
				"must match the name of an entry in spec.initContainers.name or spec.containers.name"))
		} else if _, ok := all[k].Resources.Requests[corev1.ResourceName(m.ResourceName)]; !ok {
			errs = append(errs, field.Invalid(at.Child("resourceName"), m.ResourceName, "must match the extended "+
				"resource name of an entry in spec.initContainers.resources.requests or "+
				"spec.containers.resources.requests"))
		}
		errs = append(errs, label(m.RequestName, path.Child("requestName"))...)
		if slices.Contains(s.RequestMappings[:i], m) {
			errs = append(errs, field.Duplicate(at.Child("containerName"), m.ContainerName),
				field.Duplicate(at.Child("resourceName"), m.ResourceName),
				field.Duplicate(at.Child("requestName"), m.RequestName))
		}
	}
	if s.ResourceClaimName == "" {
		return append(errs, field.Required(path.Child("resourceClaimName"), ""))
	}
	return append(errs, named(s.ResourceClaimName, path.Child("resourceClaimName"),
		apivalidation.NameIsDNSSubdomain)...)
}

// validateUsers checks as whom containers run.
func validateUsers(list []corev1.ContainerStatus, name string, os *corev1.PodOS) (errs field.ErrorList) {
	for i := range list {
		u := list[i].User
		if u == nil || u.Linux == nil {
			continue
		}
		at := statusPath.Child(name).Index(i).Child("user", "linux")
		switch {
		case os != nil && os.Name == corev1.Windows:
			errs = append(errs, field.Forbidden(at, "cannot be set for a windows pod"))
		case os == nil || os.Name == corev1.Linux:
			for _, msg := range utilvalidation.IsValidUserID(u.Linux.UID) {
				errs = append(errs, field.Invalid(at.Child("uid"), u.Linux.UID, msg))
			}
			for _, msg := range utilvalidation.IsValidGroupID(u.Linux.GID) {
				errs = append(errs, field.Invalid(at.Child("gid"), u.Linux.GID, msg))
			}
			for j, id := range u.Linux.SupplementalGroups {
				for _, msg := range utilvalidation.IsValidGroupID(id) {
					errs = append(errs, field.Invalid(at.Child("supplementalGroups").Index(j), id, msg))
				}
			}
		}
	}
	return errs
}

// validateAllocated checks how what was allocated to containers fares.
func validateAllocated(list []corev1.ContainerStatus, name string,
	containers []corev1.Container) (errs field.ErrorList) {
	for i := range list {
		k := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == list[i].Name })
		for j, r := range list[i].AllocatedResourcesStatus {
			at := statusPath.Child(name).Index(i).Child("allocatedResourcesStatus").Index(j)
			if k >= 0 {
				errs = append(errs, validateAllocatedName(r.Name, &containers[k].Resources, at.Child("name"))...)
			}
			for l := range r.Resources {
				errs = append(errs, validateHealth(r.Resources, l, at.Child("resources").Index(l))...)
			}
		}
	}
	return errs
}

func validateAllocatedName(name corev1.ResourceName, r *corev1.ResourceRequirements,
	path *field.Path) field.ErrorList {
	if !strings.HasPrefix(string(name), "claim:") {
		if _, ok := r.Requests[name]; ok {
			return nil
		}
		return field.ErrorList{field.Invalid(path, name, "must match one of the container's resource requests")}
	}
	for _, c := range r.Claims {
		of := "claim:" + c.Name
		if c.Request != "" {
			of += "/" + c.Request
		}
		if of == string(name) {
			return nil
		}
	}
	return field.ErrorList{field.Invalid(path, name, "must match one of the container's resource claims in a format "+
		"'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty")}
}

func validateHealth(list []corev1.ResourceHealth, i int, path *field.Path) field.ErrorList {
	r := &list[i]
	errs := among(&r.Health, path.Child("health"), corev1.ResourceHealthStatusHealthy,
		corev1.ResourceHealthStatusUnhealthy, corev1.ResourceHealthStatusUnknown)
	if m, at := r.Message, path.Child("message"); m != nil && *m == "" {
		errs = append(errs, field.Required(at, "must be non-empty if specified"))
	} else if m != nil && len(*m) > corev1.ResourceHealthMessageMaxLength {
		errs = append(errs, field.TooLong(at, *m, corev1.ResourceHealthMessageMaxLength))
	}
	if slices.ContainsFunc(list[:i], func(o corev1.ResourceHealth) bool { return o.ResourceID == r.ResourceID }) {
		errs = append(errs, field.Duplicate(path.Child("resourceID"), r.ResourceID))
	}
	return errs
}
