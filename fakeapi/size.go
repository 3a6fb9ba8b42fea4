package fakeapi

import (
	"encoding/json"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// maxObject is etcd's default limit for one request, in bytes.
const maxObject = 3 << 19

var errTooLargeObject = errors.New("etcdserver: request is too large")

// tooLarge refuses an object that etcd does not take. Built-in kinds are stored as protobuf, others as JSON.
func (s *Server) tooLarge(obj runtime.Object) error {
	if s.opts.Unlimited {
		return nil
	}
	size := 0
	switch o := obj.(type) {
	case interface{ Size() int }:
		size = o.Size()
	case *unstructured.Unstructured:
		if bulk(o.Object) < maxObject/6 { // a character has at most six bytes in JSON
			return nil
		}
		raw, err := json.Marshal(o.Object)
		if err != nil {
			return err
		}
		size = len(raw)
	}
	if size > maxObject {
		return errTooLargeObject
	}
	return nil
}

// bulk estimates the size of a value without encoding it.
func bulk(value any) int {
	n := 8
	switch v := value.(type) {
	case string:
		n += len(v)
	case map[string]any:
		for key, item := range v { //detcheck:ordered a sum has no order
			n += len(key) + bulk(item)
		}
	case []any:
		for _, item := range v {
			n += bulk(item)
		}
	}
	return n
}
