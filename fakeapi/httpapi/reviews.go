package httpapi

import (
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/codec"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/refusal"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/route"
)

type review struct {
	body   *fakeapi.Kind
	answer func(h *Handler, t *route.Target, user string, obj runtime.Object) (runtime.Object, error)
}

var authn, authz = authenticationv1.SchemeGroupVersion, authorizationv1.SchemeGroupVersion

// reviews holds, by resource, the requests whose object is not stored, such as SubjectAccessReviews and Bindings.
var reviews = map[schema.GroupResource]*review{
	{Group: authenticationv1.GroupName, Resource: "selfsubjectreviews"}: question(authn, "SelfSubjectReview", whoAmI),
	{Group: authenticationv1.GroupName, Resource: "tokenreviews"}:       question(authn, "TokenReview", reviewToken),
	{Group: authorizationv1.GroupName, Resource: "selfsubjectaccessreviews"}: question(authz,
		"SelfSubjectAccessReview", reviewOwnAccess),
	{Group: authorizationv1.GroupName, Resource: "subjectaccessreviews"}: question(authz,
		"SubjectAccessReview", reviewAccess),
	{Group: authorizationv1.GroupName, Resource: "localsubjectaccessreviews"}: question(authz,
		"LocalSubjectAccessReview", reviewLocalAccess),
	{Group: authorizationv1.GroupName, Resource: "selfsubjectrulesreviews"}: question(authz,
		"SelfSubjectRulesReview", rules),
	{Resource: "serviceaccounts/token"}: question(authn, "TokenRequest", requestToken),
	{Resource: "bindings"}:              question(corev1.SchemeGroupVersion, "Binding", bindPod),
}

// object is the type *T, for a Go type T of an API object.
type object[T any] interface {
	*T
	runtime.Object
}

func question[T any, P object[T]](gv schema.GroupVersion, kind string,
	answer func(h *Handler, t *route.Target, user string, obj P) (runtime.Object, error)) *review {
	return &review{
		body: &fakeapi.Kind{GVK: gv.WithKind(kind), New: func() runtime.Object { return P(new(T)) }},
		answer: func(h *Handler, t *route.Target, user string, obj runtime.Object) (runtime.Object, error) {
			return answer(h, t, user, obj.(P))
		},
	}
}

// respondReview responds to a request for a resource in reviews, such as tokenreviews, or returns nil for any other.
func (h *Handler) respondReview(r *http.Request, t *route.Target, f media.Format) *answer {
	resource := t.Resource
	if t.Subresource != "" {
		resource += "/" + t.Subresource
	}
	q := reviews[schema.GroupResource{Group: t.Group, Resource: resource}]
	switch {
	case q == nil:
		return nil
	case r.Method != http.MethodPost || (t.Name == "") != (t.Subresource == ""):
		return fail(f, refusal.Method())
	}
	body, err := codec.Body(r)
	if err != nil {
		return fail(f, err)
	}
	var opts metav1.CreateOptions
	if err := codec.WriteOptions(r, &opts); err != nil {
		return fail(f, err)
	}
	obj, warnings, err := codec.Decode(r, q.body, body, opts.FieldValidation)
	if err != nil {
		return fail(f, err)
	}
	if m, ok := obj.(metav1.Object); ok && t.Namespace != "" && m.GetNamespace() == "" {
		m.SetNamespace(t.Namespace)
	}
	if p := passageOf(r.Context()); p != nil {
		p.object = obj
	}
	user, err := h.user(r)
	if err != nil {
		return fail(f, err)
	}
	out, err := q.answer(h, t, user, obj)
	if own, ok := out.(*authenticationv1.SelfSubjectReview); ok {
		pretend(r, &own.Status.UserInfo)
	}
	if err != nil {
		return fail(f, err)
	}
	if _, status := out.(*metav1.Status); !status {
		out.GetObjectKind().SetGroupVersionKind(q.body.GVK)
	}
	return &answer{code: http.StatusCreated, object: out, format: f.Plain(), warnings: warnings}
}

func (h *Handler) userNamed(name string) authenticationv1.UserInfo {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.server.UserNamed(name)
}

func whoAmI(h *Handler, _ *route.Target, user string, _ *authenticationv1.SelfSubjectReview) (runtime.Object, error) {
	return &authenticationv1.SelfSubjectReview{
		ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.Time{Time: h.now()}},
		Status:     authenticationv1.SelfSubjectReviewStatus{UserInfo: h.userNamed(user)},
	}, nil
}

// allowed is the status of every access review.
var allowed = authorizationv1.SubjectAccessReviewStatus{Allowed: true}

func reviewOwnAccess(_ *Handler, _ *route.Target, _ string,
	o *authorizationv1.SelfSubjectAccessReview) (runtime.Object, error) {
	errs := checkAttributes(o.Spec.ResourceAttributes, o.Spec.NonResourceAttributes)
	o.Status = allowed
	return o, invalid(errs)
}

func reviewAccess(_ *Handler, _ *route.Target, _ string,
	o *authorizationv1.SubjectAccessReview) (runtime.Object, error) {
	errs := checkAttributes(o.Spec.ResourceAttributes, o.Spec.NonResourceAttributes)
	o.Status = allowed
	return o, invalid(append(errs, checkSubject(&o.Spec)...))
}

func reviewLocalAccess(_ *Handler, t *route.Target, _ string,
	o *authorizationv1.LocalSubjectAccessReview) (runtime.Object, error) {
	errs := checkAttributes(o.Spec.ResourceAttributes, o.Spec.NonResourceAttributes)
	errs = append(errs, checkSubject(&o.Spec)...)
	if a := o.Spec.ResourceAttributes; a != nil && a.Namespace != o.Namespace {
		errs = append(errs, field.Invalid(field.NewPath("spec.resourceAttributes.namespace"), a.Namespace,
			"must match metadata.namespace"))
	}
	if a := o.Spec.NonResourceAttributes; a != nil {
		errs = append(errs, field.Invalid(field.NewPath("spec.nonResourceAttributes"), a,
			"disallowed on this kind of request"))
	}
	if err := invalid(errs); err != nil {
		return nil, err
	}
	if o.Namespace != t.Namespace {
		return nil, apierrors.NewBadRequest("spec.resourceAttributes.namespace must match namespace: " + t.Namespace)
	}
	o.Status = allowed
	return o, nil
}

func checkAttributes(r *authorizationv1.ResourceAttributes, n *authorizationv1.NonResourceAttributes) field.ErrorList {
	spec := field.NewPath("spec")
	switch {
	case r != nil && n != nil:
		return field.ErrorList{field.Invalid(spec.Child("nonResourceAttributes"), n,
			"cannot be specified in combination with resourceAttributes")}
	case r == nil && n == nil:
		return field.ErrorList{field.Invalid(spec.Child("resourceAttributes"), n,
			"exactly one of nonResourceAttributes or resourceAttributes must be specified")}
	}
	return nil
}

func checkSubject(s *authorizationv1.SubjectAccessReviewSpec) field.ErrorList {
	if s.User != "" || len(s.Groups) > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("spec", "user"), s.User,
		"at least one of user or group must be specified")}
}

// invalid returns the error for an invalid review. Like the error of the real server, it does not name the kind.
func invalid(errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: authorizationv1.GroupName}, "", errs)
}

func rules(_ *Handler, _ *route.Target, _ string, o *authorizationv1.SelfSubjectRulesReview) (runtime.Object, error) {
	if o.Spec.Namespace == "" {
		return nil, apierrors.NewBadRequest("no namespace on request")
	}
	all := []string{"*"}
	return &authorizationv1.SelfSubjectRulesReview{Status: authorizationv1.SubjectRulesReviewStatus{
		ResourceRules:    []authorizationv1.ResourceRule{{Verbs: all, APIGroups: all, Resources: all}},
		NonResourceRules: []authorizationv1.NonResourceRule{{Verbs: all, NonResourceURLs: all}},
	}}, nil
}

// bindPod binds a Pod to a node, for a Binding that a client creates at the deprecated path bindings.
func bindPod(h *Handler, t *route.Target, user string, o *corev1.Binding) (runtime.Object, error) {
	resp := h.do(&fakeapi.Request{Verb: fakeapi.Create, Kind: h.kindNamed("pods"), Subresource: "binding",
		Namespace: t.Namespace, Name: o.Name, Object: o, User: user})
	if resp.Err != nil {
		return nil, resp.Err
	}
	return resp.Object, nil
}

func (h *Handler) kindNamed(name string) *fakeapi.Kind {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.server.KindNamed(name)
}
