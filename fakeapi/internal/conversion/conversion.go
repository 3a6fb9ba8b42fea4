// Package conversion makes of the objects of a definition those of another version, by
// whoever answers for its conversion webhook: it says what is asked, and what of an
// answer is believed. It is k8s.io/apiextensions-apiserver/pkg/apiserver/conversion,
// which cannot be had without etcd.
package conversion

import (
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

type object = unstructured.Unstructured

// Ask has an object, which is its own, converted. It returns what came of it: one
// object, if the other side does as it should.
type Ask func(obj *object, to schema.GroupVersion) ([]runtime.RawExtension, error)

// To makes of an object, which stays as it is, that of another version of the definition.
func To(obj *object, to schema.GroupVersion, ask Ask) (*object, error) {
	from := obj.GroupVersionKind()
	if from.GroupVersion() == to {
		return obj, nil
	}
	if len(obj.Object) == 2 && obj.GetKind() != "" && obj.GetAPIVersion() != "" {
		out := obj.DeepCopy()
		out.SetGroupVersionKind(to.WithKind(from.Kind))
		return out, nil
	}
	answer, err := ask(obj.DeepCopy(), to)
	switch {
	case err != nil:
		return nil, fmt.Errorf("conversion webhook for %v failed: %v", from, err)
	case len(answer) != 1:
		return nil, fmt.Errorf("conversion webhook for %v returned %d objects, expected 1", from, len(answer))
	}
	out, err := unpack(answer[0])
	if err != nil {
		return nil, err
	}
	invalid := fmt.Sprintf("conversion webhook for %v returned invalid object at index 0: ", from)
	if got := out.GroupVersionKind().GroupVersion(); got != to {
		return nil, fmt.Errorf("%sinvalid groupVersion (expected %v, received %v)", invalid, to, got)
	}
	if got := out.GroupVersionKind().Kind; got != from.Kind {
		return nil, fmt.Errorf("%sinvalid kind (expected %v, received %v)", invalid, from.Kind, got)
	}
	if err := same(obj, out); err != nil {
		return nil, fmt.Errorf("conversion webhook for %v returned invalid object: %v", from, err)
	}
	if err := restoreMeta(obj, out); err != nil {
		return nil, fmt.Errorf("conversion webhook for %v returned invalid metadata: %v", from, err)
	}
	return out, nil
}

func unpack(x runtime.RawExtension) (*object, error) {
	if x.Object != nil {
		u, ok := x.Object.(*object)
		if !ok {
			return nil, fmt.Errorf("invalid type, expected=Unstructured, got=%T", x.Object)
		}
		return u, nil
	}
	u := &object{}
	return u, u.UnmarshalJSON(x.Raw)
}

// Review asks for one object.
func Review(uid types.UID, obj *object, to schema.GroupVersion) *apiextensionsv1.ConversionReview {
	r := &apiextensionsv1.ConversionReview{Request: &apiextensionsv1.ConversionRequest{UID: uid,
		DesiredAPIVersion: to.String(), Objects: []runtime.RawExtension{{Object: obj}}},
		Response: &apiextensionsv1.ConversionResponse{}}
	r.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("ConversionReview"))
	return r
}

// Answer is what a review that came back holds.
func Answer(uid types.UID, r *apiextensionsv1.ConversionReview) ([]runtime.RawExtension, error) {
	want := apiextensionsv1.SchemeGroupVersion.WithKind("ConversionReview")
	switch {
	case r.GroupVersionKind() != want:
		return nil, fmt.Errorf("expected webhook response of %v, got %v", want, r.GroupVersionKind())
	case r.Response == nil:
		return nil, errors.New("no response provided")
	case r.Response.UID != uid:
		return nil, fmt.Errorf("expected response.uid=%q, got %q", uid, r.Response.UID)
	case r.Response.Result.Status == metav1.StatusSuccess:
		return r.Response.ConvertedObjects, nil
	case r.Response.Result.Message != "":
		return nil, errors.New(r.Response.Result.Message)
	}
	return nil, fmt.Errorf("response.result.status was '%s', not 'Success'", r.Response.Result.Status)
}
