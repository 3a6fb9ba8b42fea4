package httpapi

import (
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
)

// boundName is an object that a token holds no longer than.
type boundName struct {
	Name string `json:"name"`
	UID  string `json:"uid"`
}

// there says whether an object that a token is bound to is there; so is none.
func (h *Handler) there(resource, namespace string, b *boundName) bool {
	if b == nil {
		return true
	}
	obj, err := h.read(resource, namespace, b.Name)
	return err == nil && string(obj.GetUID()) == b.UID
}

// read returns an object as it is stored.
func (h *Handler) read(resource, namespace, name string) (metav1.Object, error) {
	resp := h.do(&fakeapi.Request{Verb: fakeapi.Get, Kind: h.kindNamed(resource), Namespace: namespace, Name: name})
	if resp.Err != nil {
		return nil, resp.Err
	}
	return resp.Object.(metav1.Object), nil
}

// bind binds a token to the object that it is asked for.
func (h *Handler) bind(c *claims, ref *authenticationv1.BoundObjectReference) error {
	gvk := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	kinds := map[string]struct {
		resource, namespace string
		bound               **boundName
	}{"Pod": {"pods", c.Own.Namespace, &c.Own.Pod}, "Node": {"nodes", "", &c.Own.Node},
		"Secret": {"secrets", c.Own.Namespace, &c.Own.Secret}}
	k, ok := kinds[gvk.Kind]
	if !ok || gvk.Group != "" {
		return apierrors.NewBadRequest("cannot bind token to object of type " + gvk.String())
	}
	obj, err := h.read(k.resource, k.namespace, ref.Name)
	if err != nil {
		return err
	}
	if p, ok := obj.(*corev1.Pod); ok && p.Spec.ServiceAccountName != c.Own.Account.Name {
		return apierrors.NewBadRequest(fmt.Sprintf("cannot bind token for serviceaccount %q to pod running with "+
			"different serviceaccount name.", c.Own.Account.Name))
	}
	if ref.UID != "" && ref.UID != obj.GetUID() {
		return apierrors.NewConflict(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, ref.Name,
			fmt.Errorf("the UID in the bound object reference (%s) does not match the UID in record. "+
				"The object might have been deleted and then recreated", ref.UID))
	}
	*k.bound = &boundName{ref.Name, string(obj.GetUID())}
	return nil
}
