package fakeapi

import (
	"errors"
	"fmt"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	registration "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/webhook"
)

// hooked reports whether webhooks or policies of this kind may apply to the request. The server's own writes skip them.
func (c *call) hooked(configurations *Kind) bool {
	return c.s.tables[configurations.ordinal].objects.Len() > 0 && !c.itself && !webhook.Exempt(c.k.GVK) &&
		c.s.plugged(pluginOf(configurations))
}

// pluginOf returns the name of the admission plugin that uses a kind, such as MutatingWebhookConfiguration.
func pluginOf(configurations *Kind) string {
	switch configurations {
	case mutatingHooks:
		return mutatingWebhook
	case validatingHooks:
		return validatingWebhook
	}
	return validatingPolicy
}

// mayAsk reports whether the request may need a webhook call over the network.
func (c *call) mayAsk() bool {
	return c.s.caller != nil && (c.k.hooked || c.hooked(mutatingHooks) || c.hooked(validatingHooks))
}

// hooks returns the webhooks in the configurations of a kind. See also Options.WebhooksLater.
func (c *call) hooks(configurations *Kind) (all []webhook.Hook) {
	c.s.tables[configurations.ordinal].each("", func(e *entry) bool {
		switch o := e.obj.(type) {
		case *registration.MutatingWebhookConfiguration:
			all = append(all, webhook.Mutating(o)...)
		case *registration.ValidatingWebhookConfiguration:
			all = append(all, webhook.Validating(o)...)
		}
		return true
	})
	if c.s.caller == nil && c.s.opts.WebhooksLater {
		all = slices.DeleteFunc(all, func(h webhook.Hook) bool { return c.s.opts.Webhooks[h.Name] == nil })
	}
	return all
}

// attributes returns a request as webhooks get it. obj is nil for a delete, and old is nil for a create.
func (c *call) attributes(op admissionv1.Operation, obj, old runtime.Object, dryRun bool) *webhook.Attributes {
	k := c.req.Kind
	a := &webhook.Attributes{Operation: op, Kind: k.GVK, Resource: k.GVR(), Subresource: c.req.Subresource,
		Namespace: c.req.Namespace, Name: c.req.Name, Object: obj, Old: old, DryRun: dryRun,
		User: c.s.UserNamed(c.req.User), Options: c.options(op)}
	if a.Name == "" && obj != nil {
		a.Name = metadata.Of(obj).GetName()
	}
	if c.k == namespaceKind {
		a.Namespace = a.Name
	}
	switch c.req.Subresource {
	case "scale":
		a.Kind, a.Object, a.Old = scales.GVK, c.k.scaleOf(obj), c.k.scaleOf(old)
	case "eviction", "binding":
		a.Kind = k.BodyKind(c.req.Subresource).GVK
	}
	return a
}

// options returns the request's options as the CreateOptions, UpdateOptions or DeleteOptions of the operation.
func (c *call) options(op admissionv1.Operation) runtime.Object {
	create, update, patch := c.req.Create, c.req.Update, c.req.PatchO
	switch {
	case op == admissionv1.Delete:
		o := c.req.Delete
		o.TypeMeta = optionsOf("DeleteOptions")
		return &o
	case op == admissionv1.Create && c.req.Verb == Update:
		create = metav1.CreateOptions{DryRun: update.DryRun, FieldManager: update.FieldManager,
			FieldValidation: update.FieldValidation}
	case op == admissionv1.Create && c.req.Verb == Patch:
		create = metav1.CreateOptions{DryRun: patch.DryRun, FieldManager: patch.FieldManager,
			FieldValidation: patch.FieldValidation}
	case c.req.Verb == Patch:
		update = metav1.UpdateOptions{DryRun: patch.DryRun, FieldManager: patch.FieldManager,
			FieldValidation: patch.FieldValidation}
	}
	if op == admissionv1.Create {
		create.TypeMeta = optionsOf("CreateOptions")
		return &create
	}
	update.TypeMeta = optionsOf("UpdateOptions")
	return &update
}

func optionsOf(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{Kind: kind, APIVersion: "meta.k8s.io/v1"}
}

// matched returns the request's objects in the version that a webhook expects; nil if the webhook does not match.
func (c *call) matched(h *webhook.Hook, a *webhook.Attributes) (f *forms, err error) {
	to, ok, err := h.For().Match(a, c.others(), c.s.labelsOf)
	if !ok || err != nil {
		return nil, err
	}
	if f, err = c.formsOf(a, to); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if len(h.MatchConditions) == 0 {
		return f, nil
	}
	ok, err = webhook.Meets(h.MatchConditions, a.Versioned(to, f.obj, f.old), to)
	switch {
	case err != nil && !h.FailsOpen():
		return nil, apierrors.NewForbidden(a.Resource.GroupResource(), a.Name, err)
	case !ok:
		return nil, nil
	}
	return f, nil
}

func (s *Server) labelsOf(namespace string) (map[string]string, error) {
	e := s.find(s.tables[namespaceKind.ordinal], namespace)
	if e == nil {
		return nil, apierrors.NewNotFound(namespaceKind.groupResource(), namespace)
	}
	return e.meta.GetLabels(), nil
}

// send calls a webhook: a function in Options.Webhooks, or a program over the network.
func (c *call) send(h *webhook.Hook, a *webhook.Attributes, f *forms) (*admissionv1.AdmissionResponse, error) {
	request := a.Request(f.to, f.obj, f.old)
	request.UID = c.s.reviewUID()
	review := &admissionv1.AdmissionReview{Request: request}
	review.SetGroupVersionKind(h.Review())
	failed := func(what string, err error) error {
		return &webhook.Failure{Webhook: h.Name, Reason: fmt.Errorf("%s: %w", what, err)}
	}
	answer := &admissionv1.AdmissionReview{}
	if by := c.s.opts.Webhooks[h.Name]; by != nil {
		if err := webhook.Encode(request); err != nil {
			return nil, failed("could not create admission objects", err)
		}
		answer.TypeMeta, answer.Response = review.TypeMeta, by(request)
		if r := answer.Response; r != nil && r.UID == "" {
			r.UID = request.UID
		}
	} else if c.s.caller == nil {
		return nil, failed("failed to call webhook", fmt.Errorf("nobody answers it here: Options.Webhooks has no "+
			"function for %s, and webhooks are called by threelaws serve alone", h.Name))
	} else if err := c.s.call(c.s.endpointOf(h), review, answer); err != nil {
		return nil, failed("failed to call webhook", err)
	}
	if err := h.Verify(request.UID, answer); err != nil {
		return nil, failed("received invalid webhook response", err)
	}
	for _, text := range answer.Response.Warnings {
		c.warn(text)
	}
	if !answer.Response.Allowed {
		return nil, webhook.Denial(h.Name, answer.Response.Result)
	}
	return answer.Response, nil
}

func (c *call) warn(text string) {
	if text != "" && !slices.Contains(c.warnings, text) {
		c.warnings = append(c.warnings, text)
	}
}

func (s *Server) endpointOf(h *webhook.Hook) *webhook.Endpoint {
	timeout := 10 * time.Second
	if h.TimeoutSeconds != nil {
		timeout = time.Duration(*h.TimeoutSeconds) * time.Second
	}
	return s.endpoint(&h.ClientConfig, timeout)
}

// settled applies the failure policy of a webhook to the error of its call: it returns nil if the policy is Ignore.
func settled(h *webhook.Hook, err error) error {
	var failure *webhook.Failure
	switch {
	case !errors.As(err, &failure):
		return err
	case h.FailsOpen():
		return nil
	}
	return apierrors.NewInternalError(failure)
}

// reviewed calls all validating webhooks that match the request, and returns the first error.
func (c *call) reviewed(op admissionv1.Operation, obj, old runtime.Object, dryRun bool) (first error) {
	a := c.attributes(op, obj, old, dryRun)
	hooks := c.hooks(validatingHooks)
	meant := make([]*forms, len(hooks))
	for i := range hooks {
		var err error
		if meant[i], err = c.matched(&hooks[i], a); err != nil {
			return err
		}
	}
	for i := range hooks {
		if meant[i] == nil {
			continue
		}
		err := error(nil)
		if h := &hooks[i]; a.DryRun && !h.Dry() {
			err = webhook.NoDryRun(h.Name)
		} else if _, err = c.send(h, a, meant[i]); err != nil {
			err = settled(h, err)
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// forms holds the objects of a request in the version that a webhook receives.
type forms struct {
	to       webhook.Target
	obj, old runtime.Object
	as       *Kind // the Kind of the objects; nil for the object of a subresource, such as an Eviction
}

// others returns the other served versions of the request's kind.
func (c *call) others() (all []webhook.Target) {
	for _, k := range c.s.kinds {
		if k.ordinal != c.k.ordinal || k == c.req.Kind || !k.Serves(c.req.Subresource) {
			continue
		}
		all = append(all, webhook.Target{Kind: k.BodyKind(c.req.Subresource).GVK, Resource: k.GVR()})
	}
	return all
}

// formsOf converts the request's old and new object to the version that a webhook expects (to).
func (c *call) formsOf(a *webhook.Attributes, to webhook.Target) (f *forms, err error) {
	f = &forms{to: to, obj: a.Object, old: a.Old}
	if a.Kind != c.req.Kind.GVK {
		return f, nil // objects of the kind Scale, Eviction or Binding are not converted
	}
	for _, k := range c.s.kinds {
		if k.GVK == to.Kind && k.ordinal == c.k.ordinal {
			f.as = k
		}
	}
	if f.obj, err = c.inForm(f.as, a.Object); err == nil {
		f.old, err = c.inForm(f.as, a.Old)
	}
	return f, err
}

// inForm converts a stored object, or an object of the request's kind, to another version.
func (c *call) inForm(to *Kind, obj runtime.Object) (runtime.Object, error) {
	if to == nil || obj == nil {
		return obj, nil
	}
	from := c.k
	if obj.GetObjectKind().GroupVersionKind() == to.GVK {
		return obj, nil
	}
	var err error
	if from.stored != nil && obj.GetObjectKind().GroupVersionKind() == from.GVK {
		if obj, err = c.s.convert(from, obj, true); err != nil || to == from.stored {
			return obj, err
		}
	}
	return c.s.convert(to, obj, false)
}

// back converts an object to the version of the request, after a webhook has changed the object.
func (c *call) back(obj runtime.Object, a *webhook.Attributes, f *forms) (runtime.Object, error) {
	if f.as == nil || f.to.Kind == a.Kind {
		return obj, nil
	}
	if f.as.stored != nil {
		var err error
		if obj, err = c.s.convert(f.as, obj, true); err != nil {
			return nil, err
		}
	}
	if c.k.stored == nil {
		return obj, nil
	}
	return c.s.convert(c.k, obj, false)
}

func (f *forms) complete(obj runtime.Object) {
	if f.as != nil && f.as.Default != nil {
		f.as.Default(obj)
	}
}
