package upstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/threelaws/threelaws/fakeapi"
)

// both is what most strategies of a registry are.
type both interface {
	rest.RESTCreateStrategy
	rest.RESTUpdateStrategy
}

// strategy is a registry's strategy as the server asks for it.
type strategy struct {
	kind   schema.GroupVersionKind
	scheme *runtime.Scheme
	main   both
	sub    map[string]rest.RESTUpdateStrategy
	// asJSON: objects are stored in JSON, the others in protobuf.
	asJSON bool
	// begin is what a storage of the registry does before its strategy is asked.
	begin func(a *fakeapi.Act, obj, old runtime.Object) error
}

// Decode implements [fakeapi.Strategy].
func (s *strategy) Decode(obj runtime.Object) error {
	s.scheme.Default(obj)
	in, err := s.own(obj)
	if err != nil {
		return err
	}
	return s.external(in, obj)
}

// Create implements [fakeapi.Strategy].
func (s *strategy) Create(a *fakeapi.Act, obj runtime.Object) error {
	in, err := s.own(obj)
	if err != nil {
		return err
	}
	if s.begin != nil {
		if err := s.begin(a, in, nil); err != nil {
			return err
		}
	}
	if err := rest.BeforeCreate(s.main, requestContext(a, "create"), in); err != nil {
		return err
	}
	return s.store(a, in, obj)
}

// Update implements [fakeapi.Strategy].
func (s *strategy) Update(a *fakeapi.Act, obj, old runtime.Object) error {
	in, err := s.internal(obj)
	if err != nil {
		return err
	}
	was, err := s.internal(old)
	if err != nil {
		return err
	}
	var judge rest.RESTUpdateStrategy = s.main
	if a.Subresource != "" && a.Subresource != "scale" {
		if judge = s.sub[a.Subresource]; judge == nil {
			return fmt.Errorf("%s has no strategy for updates of %s", s.kind.Kind, a.Subresource)
		}
	}
	if s.begin != nil && judge == s.main {
		if err := s.begin(a, in, was); err != nil {
			return err
		}
	}
	if err := rest.BeforeUpdate(judge, requestContext(a, "update"), in, was); err != nil {
		return err
	}
	return s.store(a, in, obj)
}

// hub is the version that objects are judged in.
func (s *strategy) hub() schema.GroupVersion {
	return schema.GroupVersion{Group: s.kind.Group, Version: runtime.APIVersionInternal}
}

// own makes the internal form of an object that nobody else has. It shares what the
// object has: two fields that are one map stay one, as those of a Job's labels are.
func (s *strategy) own(obj runtime.Object) (runtime.Object, error) {
	return s.scheme.UnsafeConvertToVersion(obj, s.hub())
}

// internal makes the internal form of an object that shares nothing with it.
func (s *strategy) internal(obj runtime.Object) (runtime.Object, error) {
	return s.scheme.ConvertToVersion(obj, s.hub())
}

// external makes obj the external form of an internal object, which may have pointers to
// what obj holds.
func (s *strategy) external(in, obj runtime.Object) error {
	to := reflect.ValueOf(obj).Elem()
	made := reflect.New(to.Type())
	if err := s.scheme.Convert(in, made.Interface(), nil); err != nil {
		return err
	}
	to.Set(made.Elem())
	obj.GetObjectKind().SetGroupVersionKind(s.kind)
	return nil
}

// store makes obj what is read when an internal object has been stored.
func (s *strategy) store(a *fakeapi.Act, in, obj runtime.Object) error {
	if err := s.external(in, obj); err != nil {
		return err
	}
	stored, err := s.encode(obj)
	if err != nil {
		return err
	}
	wipe(obj)
	if err := s.decode(stored, obj); err != nil {
		return err
	}
	if err := s.Decode(obj); err != nil {
		return err
	}
	again, err := s.encode(obj)
	if err != nil {
		return err
	}
	a.Completed = !bytes.Equal(stored, again)
	return nil
}

// binary is an object that protobuf knows.
type binary interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

func (s *strategy) encode(obj runtime.Object) ([]byte, error) {
	if p, ok := obj.(binary); ok && !s.asJSON {
		return p.Marshal()
	}
	return json.Marshal(obj)
}

func (s *strategy) decode(raw []byte, obj runtime.Object) error {
	if p, ok := obj.(binary); ok && !s.asJSON {
		return p.Unmarshal(raw)
	}
	return json.Unmarshal(raw, obj)
}

// wipe makes an object one of which nothing is known.
func wipe(obj runtime.Object) {
	v := reflect.ValueOf(obj).Elem()
	v.SetZero()
}
