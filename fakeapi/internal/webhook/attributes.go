package webhook

import (
	"encoding/json"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Attributes are what webhooks are told of a request, and matched with.
type Attributes struct {
	Operation       admissionv1.Operation
	Kind            schema.GroupVersionKind
	Resource        schema.GroupVersionResource
	Subresource     string
	Namespace, Name string         // of a namespace both are its name
	Object, Old     runtime.Object // nil where there is none
	Options         runtime.Object
	DryRun          bool
	User            authenticationv1.UserInfo
}

// Target is a form in which an object can be shown to a webhook.
type Target struct {
	Kind     schema.GroupVersionKind
	Resource schema.GroupVersionResource
}

// configurations are the kinds whose objects no webhook and no policy is asked about.
var configurations = map[string]bool{
	"ValidatingWebhookConfiguration": true, "MutatingWebhookConfiguration": true,
	"ValidatingAdmissionPolicy": true, "ValidatingAdmissionPolicyBinding": true,
	"MutatingAdmissionPolicy": true, "MutatingAdmissionPolicyBinding": true,
}

// Exempt says that webhooks are not asked about objects of a kind: they could make
// themselves unremovable.
func Exempt(k schema.GroupVersionKind) bool {
	return k.Group == "admissionregistration.k8s.io" && configurations[k.Kind]
}

// Request is what a webhook is asked. The objects are those that it is shown.
func (a *Attributes) Request(to Target, obj, old runtime.Object) *admissionv1.AdmissionRequest {
	kind, resource := metav1.GroupVersionKind(a.Kind), metav1.GroupVersionResource(a.Resource)
	dryRun := a.DryRun
	return &admissionv1.AdmissionRequest{
		Kind: metav1.GroupVersionKind(to.Kind), Resource: metav1.GroupVersionResource(to.Resource),
		SubResource: a.Subresource, RequestKind: &kind, RequestResource: &resource, RequestSubResource: a.Subresource,
		Name: a.Name, Namespace: a.Namespace, Operation: a.Operation, UserInfo: a.User,
		Object: runtime.RawExtension{Object: obj}, OldObject: runtime.RawExtension{Object: old},
		DryRun: &dryRun, Options: runtime.RawExtension{Object: a.Options},
	}
}

// JSON is an object as it is sent.
func JSON(obj runtime.Object) ([]byte, error) { return json.Marshal(obj) }

// Encode gives a request its objects as a handler reads them off the wire: as JSON.
func Encode(r *admissionv1.AdmissionRequest) error {
	for _, part := range []*runtime.RawExtension{&r.Object, &r.OldObject, &r.Options} {
		if part.Object == nil {
			continue
		}
		raw, err := json.Marshal(part.Object)
		if err != nil {
			return err
		}
		*part = runtime.RawExtension{Raw: raw}
	}
	return nil
}
