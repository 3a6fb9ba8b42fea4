package hosted_test

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/trial"
)

// act is what a user does.
type act struct {
	verb, text string
	place
	policy metav1.DeletionPropagation
}

func (a act) String() string {
	return strings.TrimRight(fmt.Sprintf("%s %s %s%s", a.verb, a.place, a.policy, a.text), "\n ")
}

// on has the user do it. What is refused is refused here and there alike, unless the worlds differ.
func (a act) on(w *trial.Trial) error {
	other := ""
	if o := w.Server.Lookup(w.Server.KindNamed("cm"), "default", "other"); o != nil {
		other = string(o.(metav1.Object).GetUID())
	}
	if a.verb == "create" {
		for _, doc := range strings.Split(strings.ReplaceAll(a.text, "OTHER", other), "\n---\n") {
			raw, err := yaml.YAMLToJSON([]byte(doc))
			if err != nil {
				return fmt.Errorf("%s: %w", doc, err)
			}
			obj, _, err := scheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
			if err != nil {
				return fmt.Errorf("%s: %w", doc, err)
			}
			gvk := obj.GetObjectKind().GroupVersionKind()
			r := &fakeapi.Request{Verb: fakeapi.Create, Kind: w.Server.Kind(gvk), Object: obj}
			if r.Kind.Namespaced {
				r.Namespace = "default"
			}
			if _, err := w.Request(r); err != nil && !apierrors.IsAlreadyExists(err) {
				return fmt.Errorf("%s: %w", doc, err)
			}
		}
		return nil
	}
	r := &fakeapi.Request{Verb: fakeapi.Delete, Kind: w.Server.KindNamed(a.kind), Namespace: "default", Name: a.name}
	if a.policy != "" {
		r.Delete.PropagationPolicy = &a.policy
	}
	if a.verb == "patch" {
		patch, err := yaml.YAMLToJSON([]byte(a.text))
		if err != nil {
			return err
		}
		r.Verb, r.PatchType, r.Patch = fakeapi.Patch, types.MergePatchType, patch
	}
	if _, err := w.Request(r); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsInvalid(err) {
		return err
	}
	return nil
}
