package validation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// handler is what probes and hooks of the life cycle do.
type handler struct {
	exec  *corev1.ExecAction
	http  *corev1.HTTPGetAction
	tcp   *corev1.TCPSocketAction
	grpc  *corev1.GRPCAction
	sleep *corev1.SleepAction
}

// validate checks that there is one action, and what it does.
func (h *handler) validate(grace *int64, path *field.Path) (errs field.ErrorList) {
	n := 0
	one := func(set bool, name string, check func(at *field.Path) field.ErrorList) {
		if !set {
			return
		}
		if n++; n > 1 {
			errs = append(errs, field.Forbidden(path.Child(name), "may not specify more than 1 handler type"))
			return
		}
		errs = append(errs, check(path.Child(name))...)
	}
	one(h.exec != nil, "exec", func(at *field.Path) field.ErrorList {
		if len(h.exec.Command) > 0 {
			return nil
		}
		return field.ErrorList{field.Required(at.Child("command"), "")}
	})
	one(h.http != nil, "httpGet", func(at *field.Path) field.ErrorList { return validateHTTP(h.http, at) })
	one(h.tcp != nil, "tcpSocket", func(at *field.Path) field.ErrorList {
		return numberOrName(h.tcp.Port, at.Child("port"))
	})
	one(h.grpc != nil, "grpc", func(at *field.Path) field.ErrorList {
		return numberOrName(intstr.FromInt32(h.grpc.Port), at.Child("port"))
	})
	one(h.sleep != nil, "sleep", func(at *field.Path) field.ErrorList {
		if s := h.sleep.Seconds; grace != nil && (s < 0 || s > *grace) {
			return field.ErrorList{field.Invalid(at, s,
				fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", *grace))}
		}
		return nil
	})
	if n == 0 {
		errs = append(errs, field.Required(path, "must specify a handler type"))
	}
	return errs
}

func validateHTTP(h *corev1.HTTPGetAction, path *field.Path) field.ErrorList {
	errs := required(h.Path, path.Child("path"))
	errs = append(errs, numberOrName(h.Port, path.Child("port"))...)
	errs = append(errs, among(&h.Scheme, path.Child("scheme"), corev1.URISchemeHTTP, corev1.URISchemeHTTPS)...)
	for _, header := range h.HTTPHeaders {
		errs = append(errs, named(header.Name, path.Child("httpHeaders"), plain(utilvalidation.IsHTTPHeaderName))...)
	}
	return errs
}

// numberOrName checks a port, which is a number or has a name.
func numberOrName(port intstr.IntOrString, path *field.Path) (errs field.ErrorList) {
	if port.Type == intstr.String {
		return named(port.StrVal, path, plain(utilvalidation.IsValidPortName))
	}
	for _, msg := range utilvalidation.IsValidPortNum(port.IntValue()) {
		errs = append(errs, field.Invalid(path, port.IntValue(), msg))
	}
	return errs
}

func (p *podScope) validateLifecycle(l *corev1.Lifecycle, path *field.Path) (errs field.ErrorList) {
	for _, hook := range [...]struct {
		name string
		does *corev1.LifecycleHandler
	}{{"postStart", l.PostStart}, {"preStop", l.PreStop}} {
		if d := hook.does; d != nil {
			h := handler{exec: d.Exec, http: d.HTTPGet, tcp: d.TCPSocket, sleep: d.Sleep}
			errs = append(errs, h.validate(p.spec.TerminationGracePeriodSeconds, path.Child(hook.name))...)
		}
	}
	return errs
}

// validateProbes checks the three probes of a container: those that restart it succeed
// at once, and the one that does not has no say in how it ends.
func (p *podScope) validateProbes(c *corev1.Container, path *field.Path) (errs field.ErrorList) {
	for _, one := range [...]struct {
		name  string
		probe *corev1.Probe
	}{{"livenessProbe", c.LivenessProbe}, {"readinessProbe", c.ReadinessProbe}, {"startupProbe", c.StartupProbe}} {
		if one.probe == nil {
			continue
		}
		at := path.Child(one.name)
		errs = append(errs, p.validateProbe(one.probe, at)...)
		switch {
		case one.probe == c.ReadinessProbe && one.probe.TerminationGracePeriodSeconds != nil:
			errs = append(errs, field.Invalid(at.Child("terminationGracePeriodSeconds"),
				one.probe.TerminationGracePeriodSeconds, "must not be set for readinessProbes"))
		case one.probe != c.ReadinessProbe && one.probe.SuccessThreshold != 1:
			errs = append(errs, field.Invalid(at.Child("successThreshold"), one.probe.SuccessThreshold, "must be 1"))
		}
	}
	return errs
}

func (p *podScope) validateProbe(probe *corev1.Probe, path *field.Path) field.ErrorList {
	h := handler{exec: probe.Exec, http: probe.HTTPGet, tcp: probe.TCPSocket, grpc: probe.GRPC}
	errs := h.validate(p.spec.TerminationGracePeriodSeconds, path)
	for _, n := range [...]count{{"initialDelaySeconds", probe.InitialDelaySeconds},
		{"timeoutSeconds", probe.TimeoutSeconds}, {"periodSeconds", probe.PeriodSeconds},
		{"successThreshold", probe.SuccessThreshold}, {"failureThreshold", probe.FailureThreshold}} {
		errs = append(errs, apivalidation.ValidateNonnegativeField(int64(n.n), path.Child(n.name))...)
	}
	if g := probe.TerminationGracePeriodSeconds; g != nil && *g <= 0 {
		errs = append(errs, field.Invalid(path.Child("terminationGracePeriodSeconds"), *g, "must be greater than 0"))
	}
	return errs
}

// validateRestarts checks when a container is started again.
func validateRestarts(c *corev1.Container, path *field.Path) (errs field.ErrorList) {
	at := path.Child("restartPolicy")
	if c.RestartPolicy == nil {
		errs = append(errs, field.Required(at, "must specify restartPolicy when restart rules are used"))
	}
	errs = append(errs, among(c.RestartPolicy, at, corev1.ContainerRestartPolicyAlways,
		corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure)...)
	at = path.Child("restartPolicyRules")
	if n := len(c.RestartPolicyRules); n > 20 {
		errs = append(errs, field.TooMany(at, n, 20))
	}
	for i := range c.RestartPolicyRules {
		rule, at := &c.RestartPolicyRules[i], at.Index(i)
		errs = append(errs, among(&rule.Action, at.Child("action"), corev1.ContainerRestartRuleActionRestart,
			corev1.ContainerRestartRuleActionRestartAllContainers)...)
		codes := rule.ExitCodes
		if codes == nil {
			errs = append(errs, field.Required(at.Child("exitCodes"), "must be specified"))
			continue
		}
		errs = append(errs, among(&codes.Operator, at.Child("exitCodes", "operator"),
			corev1.ContainerRestartRuleOnExitCodesOpIn, corev1.ContainerRestartRuleOnExitCodesOpNotIn)...)
		if n := len(codes.Values); n > 255 {
			errs = append(errs, field.TooMany(at.Child("exitCodes", "values"), n, 255))
		}
	}
	return errs
}

// validateResize checks what a change of resources does to a container.
func (p *podScope) validateResize(list []corev1.ContainerResizePolicy, path *field.Path) (errs field.ErrorList) {
	seen := map[corev1.ResourceName]bool{}
	for i, r := range list {
		if seen[r.ResourceName] {
			errs = append(errs, field.Duplicate(path.Index(i), r.ResourceName))
		}
		seen[r.ResourceName] = true
		errs = append(errs, amongSome(r.ResourceName, path, corev1.ResourceCPU, corev1.ResourceMemory)...)
		errs = append(errs, amongSome(r.RestartPolicy, path, corev1.NotRequired, corev1.RestartContainer)...)
		if p.spec.RestartPolicy == corev1.RestartPolicyNever && r.RestartPolicy != corev1.NotRequired {
			errs = append(errs, field.Invalid(path, r.RestartPolicy,
				"must be 'NotRequired' when pod `restartPolicy` is 'Never'"))
		}
	}
	return errs
}
