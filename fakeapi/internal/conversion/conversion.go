// Package conversion creates requests to conversion webhooks and checks their responses. It replaces
// k8s.io/apiextensions-apiserver/pkg/apiserver/conversion, which needs etcd.
package conversion

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

type object = unstructured.Unstructured

// Ask converts obj to a version, for example with a webhook. It may change obj. It should return exactly one object.
type Ask func(obj *object, to schema.GroupVersion) ([]runtime.RawExtension, error)

// To converts an object to another version of its CRD. It does not change obj.
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

// Review returns a ConversionReview that requests the conversion of one object.
func Review(uid types.UID, obj *object, to schema.GroupVersion) *apiextensionsv1.ConversionReview {
	r := &apiextensionsv1.ConversionReview{Request: &apiextensionsv1.ConversionRequest{UID: uid,
		DesiredAPIVersion: to.String(), Objects: []runtime.RawExtension{{Object: obj}}},
		Response: &apiextensionsv1.ConversionResponse{}}
	r.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("ConversionReview"))
	return r
}

// Answer returns the converted objects in a webhook's response, or an error if the response is invalid or a failure.
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

func same(in, out *object) error {
	for _, is := range [...]struct{ what, want, got string }{
		{"kind", in.GetKind(), out.GetKind()}, {"name", in.GetName(), out.GetName()},
		{"namespace", in.GetNamespace(), out.GetNamespace()}, {"UID", string(in.GetUID()), string(out.GetUID())},
	} {
		if is.want != is.got {
			return fmt.Errorf("must have the same %s: %v != %v", is.what, is.want, is.got)
		}
	}
	return nil
}

// restoreMeta replaces the metadata of out by the metadata of in, except labels and annotations. A conversion webhook
// may change only labels and annotations.
func restoreMeta(in, out *object) error {
	sent, ok := out.Object["metadata"]
	if !ok {
		return errors.New("missing metadata in converted object")
	}
	answered, ok := sent.(map[string]any)
	if !ok {
		return fmt.Errorf("invalid metadata of type %T in converted object", sent)
	}
	own := map[string]any{}
	if had, ok := in.Object["metadata"]; ok {
		if own, ok = runtime.DeepCopyJSONValue(had).(map[string]any); !ok {
			return fmt.Errorf("invalid metadata of type %T in input object", had)
		}
	}
	out.Object["metadata"] = own
	for _, name := range [...]string{"labels", "annotations"} {
		if answered[name] == nil {
			delete(own, name)
			continue
		}
		if err := restoreField(own, answered, name); err != nil {
			return err
		}
	}
	return nil
}

func restoreField(own, answered map[string]any, name string) error {
	now, ok := answered[name].(map[string]any)
	if !ok {
		return fmt.Errorf("invalid metadata.%s of type %T in converted object", name, answered[name])
	}
	was, ok := own[name].(map[string]any)
	if !ok && own[name] != nil {
		return fmt.Errorf("invalid metadata.%s of type %T in original object", name, own[name])
	}
	texts, changed := make(map[string]string, len(now)), len(was) != len(now)
	for _, key := range slices.Sorted(maps.Keys(now)) {
		text, ok := now[key].(string)
		if !ok {
			return fmt.Errorf("metadata.%s[%s] must be a string, but is %T in converted object", name, key, now[key])
		}
		texts[key], changed = text, changed || was[key] != any(text)
	}
	var errs field.ErrorList
	switch {
	case !changed:
	case name == "labels":
		errs = metav1validation.ValidateLabels(texts, field.NewPath("metadata", "labels"))
	default:
		errs = apivalidation.ValidateAnnotations(texts, field.NewPath("metadata", "annotation"))
	}
	if len(errs) > 0 {
		return errs.ToAggregate()
	}
	own[name] = now
	return nil
}
