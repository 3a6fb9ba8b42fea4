package fakeapi_test

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// If Sound returns true for metadata, the metadata is valid.
func TestSoundMetaIsSound(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	sound := 0
	for range 4000 {
		old := randomObjectMeta(r)
		obj := old.DeepCopy()
		for i := range obj.OwnerReferences {
			ref := &obj.OwnerReferences[i]
			ref.APIVersion = pick(r, "v1", "apps/v1", "/v1", "", "apps/", "a/b/c", "v1")
			ref.Kind = pick(r, "K", "K", "", "Event")
			ref.Name = pick(r, "n", "n", "n", "")
		}
		if r.Intn(4) == 0 {
			obj.Labels = map[string]string{"a": pick(r, "ok", "not ok")}
		}
		if r.Intn(4) == 0 {
			obj.UID = "other"
		}
		if !metadata.Sound(obj, old) {
			continue
		}
		sound++
		errs := apivalidation.ValidateObjectMetaAccessor(obj, true, metadata.PathSegment, metadata.Path)
		errs = append(errs, apivalidation.ValidateObjectMetaAccessorUpdate(obj, old, metadata.Path)...)
		if len(errs) > 0 {
			t.Fatalf("%+v\n%v", obj, errs)
		}
	}
	if sound < 500 {
		t.Fatalf("Sound is true for only %d of 4000", sound)
	}
}

// If SoundNew returns true for the metadata of a new object, the metadata is valid.
func TestSoundNewIsSound(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	sound := 0
	words := []string{"a", "web-1", "-a", "a-", "A", "a.b", "a/b", "x y", "", strings.Repeat("a", 63),
		strings.Repeat("a", 64), "default"}
	for range 20000 {
		word := func() string {
			if r.Intn(4) > 0 {
				return "web"
			}
			return pick(r, words...)
		}
		obj := &metav1.ObjectMeta{Namespace: word(), Name: word(), GenerateName: pick(r, "", "", word()),
			Labels: map[string]string{word(): word()}}
		if r.Intn(4) == 0 {
			obj.Finalizers = []string{word()}
		}
		if r.Intn(4) == 0 {
			obj.OwnerReferences = []metav1.OwnerReference{{APIVersion: word(), Kind: word(), Name: word(),
				UID: types.UID(word())}}
		}
		namespaced := r.Intn(8) > 0
		if !metadata.SoundNew(obj, namespaced) {
			continue
		}
		sound++
		errs := apivalidation.ValidateObjectMetaAccessor(obj, namespaced, apivalidation.NameIsDNSSubdomain, metadata.Path)
		if errs = append(errs, validateFinalizers(obj)...); len(errs) > 0 {
			t.Fatalf("%+v\n%v", obj, errs)
		}
	}
	if sound < 2000 {
		t.Fatalf("SoundNew is true for only %d of 20000", sound)
	}
}

func randomObjectMeta(r *rand.Rand) *metav1.ObjectMeta {
	m := &metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "u", ResourceVersion: "7"}
	for i := range r.Intn(3) {
		if m.Labels == nil {
			m.Labels = map[string]string{}
		}
		m.Labels[string(rune('a'+i))] = fmt.Sprint(r.Intn(3))
	}
	for _, i := range r.Perm(3)[:r.Intn(4)] {
		m.OwnerReferences = append(m.OwnerReferences,
			metav1.OwnerReference{APIVersion: "v1", Kind: "K", Name: fmt.Sprint("o", i),
				UID: types.UID(fmt.Sprint("u", i)), Controller: []*bool{nil, new(true), new(false)}[r.Intn(3)]})
	}
	for _, i := range r.Perm(3)[:r.Intn(4)] {
		m.Finalizers = append(m.Finalizers, fmt.Sprint("x/f", i))
	}
	return m
}

// validateFinalizers returns an error for a finalizer without a domain, unless StandardFinalizer returns true for it.
func validateFinalizers(m metav1.Object) (errs field.ErrorList) {
	for i, f := range m.GetFinalizers() {
		if !strings.Contains(f, "/") && !metadata.StandardFinalizer(f) {
			errs = append(errs, field.Invalid(metadata.Path.Child("finalizers").Index(i), f,
				"name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return errs
}
