package fakeapi

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// metaOf returns the object's metadata: of typed objects the ObjectMeta itself.
func metaOf(obj runtime.Object) metav1.Object {
	if a, ok := obj.(metav1.ObjectMetaAccessor); ok {
		return a.GetObjectMeta()
	}
	return obj.(metav1.Object)
}

// seconds cuts a time of day as the API's encoding does.
func seconds(now time.Time) metav1.Time { return metav1.Time{Time: now.UTC().Truncate(time.Second)} }

var metadataPath = field.NewPath("metadata")
