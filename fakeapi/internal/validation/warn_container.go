package validation

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// byteResources are counted in bytes, of which there are no fractions.
var byteResources = [...]corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceEphemeralStorage}

func warnFraction(list corev1.ResourceList, name corev1.ResourceName, at func() *field.Path) []string {
	q, ok := list[name]
	if !ok || q.MilliValue()%1000 == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: fractional byte value %q is invalid, must be an integer",
		at().Key(string(name)), q.String())}
}

// standing is where a container stands. Its path is worked out where there is something to say.
type standing struct {
	at   *field.Path
	list string
	i    int
}

func (p standing) path() *field.Path { return p.at.Child("spec").Child(p.list).Index(p.i) }

// eachContainer visits the containers of a spec in the real server's order.
func eachContainer(at *field.Path, s *corev1.PodSpec, visit func(c *corev1.Container, p standing)) {
	for i := range s.InitContainers {
		visit(&s.InitContainers[i], standing{at, "initContainers", i})
	}
	for i := range s.Containers {
		visit(&s.Containers[i], standing{at, "containers", i})
	}
	for i := range s.EphemeralContainers {
		c := corev1.Container(s.EphemeralContainers[i].EphemeralContainerCommon)
		visit(&c, standing{at, "ephemeralContainers", i})
	}
}

const deadSeccomp = `non-functional in v1.27+; use the "seccompProfile" field instead`

func warnContainers(at *field.Path, s *corev1.PodSpec, annotations map[string]string) (all []string) {
	dead := func(key string, s *corev1.SeccompProfile) {
		if _, ok := annotations[key]; ok && s == nil {
			all = append(all, fmt.Sprintf("%s: %s", at.Child("metadata", "annotations").Key(key), deadSeccomp))
		}
	}
	if len(annotations) > 0 {
		var profile *corev1.SeccompProfile
		if s.SecurityContext != nil {
			profile = s.SecurityContext.SeccompProfile
		}
		dead("seccomp.security.alpha.kubernetes.io/pod", profile)
	}
	eachContainer(at, s, func(c *corev1.Container, in standing) {
		if len(annotations) > 0 {
			var profile *corev1.SeccompProfile
			if c.SecurityContext != nil {
				profile = c.SecurityContext.SeccompProfile
			}
			dead("container.seccomp.security.alpha.kubernetes.io/"+c.Name, profile)
			all = append(all, warnAppArmor(at, s, c, annotations)...)
		}
		for _, name := range byteResources {
			all = append(all, warnFraction(c.Resources.Limits, name,
				func() *field.Path { return in.path().Child("resources", "limits") })...)
			all = append(all, warnFraction(c.Resources.Requests, name,
				func() *field.Path { return in.path().Child("resources", "requests") })...)
		}
		all = append(all, warnEnv(c.Env, in)...)
	})
	return all
}

// warnEnv warns of variables that hide others of their name.
func warnEnv(list []corev1.EnvVar, in standing) (all []string) {
	if len(list) < 2 {
		return nil
	}
	seen := map[string]bool{}
	for i := range list {
		e := &list[i]
		ref := "$(" + e.Name + ")"
		if seen[e.Name] && (e.ValueFrom != nil || e.Value == ref || !strings.Contains(e.Value, ref)) {
			all = append(all, fmt.Sprintf("%s: hides previous definition of %q, which may be dropped when using apply",
				in.path().Child("env").Index(i), e.Name))
		}
		seen[e.Name] = true
	}
	return all
}

// warnPorts warns of ports of one number that are more than one definition.
func warnPorts(at *field.Path, s *corev1.PodSpec) (all []string) {
	type definition struct {
		at   func() *field.Path
		port *corev1.ContainerPort
	}
	var before []definition
	eachContainer(at, s, func(c *corev1.Container, in standing) {
		for i := range c.Ports {
			p, own := &c.Ports[i], func() *field.Path { return in.path().Child("ports").Index(i) }
			if p.HostIP != "" && p.HostPort == 0 {
				all = append(all, fmt.Sprintf("%s: hostIP set without hostPort: %+v", own(), *p))
			}
			for _, other := range before {
				if other.port.ContainerPort != p.ContainerPort || other.port.Protocol != p.Protocol {
					continue
				}
				if how := overlapping(p, other.port); how != "" {
					all = append(all, fmt.Sprintf("%s: %s port definition with %s", own(), how, other.at()))
				}
			}
			before = append(before, definition{own, p})
		}
	})
	return all
}

// overlapping says how two ports of one number and protocol are in each other's way.
func overlapping(a, b *corev1.ContainerPort) string {
	switch {
	case a.HostIP == b.HostIP && a.HostPort == b.HostPort:
		return "duplicate"
	case a.HostPort == 0 || b.HostPort == 0:
		return "overlapping"
	case a.HostPort == b.HostPort && (a.HostIP == "") != (b.HostIP == ""):
		return "dangerously ambiguous"
	}
	return ""
}

func warnPortNames(at *field.Path, s *corev1.PodSpec) (all []string) {
	var seen map[string]*field.Path
	eachContainer(at, s, func(c *corev1.Container, in standing) {
		for i := range c.Ports {
			name := c.Ports[i].Name
			if name == "" {
				continue
			}
			own := in.path().Child("ports").Index(i)
			if other := seen[name]; other != nil {
				all = append(all, fmt.Sprintf("%s: duplicate port name %q with %s, services and probes that select "+
					"ports by name will use %s", own, name, other, other))
				continue
			}
			if seen == nil {
				seen = map[string]*field.Path{}
			}
			seen[name] = own
		}
	})
	return all
}
