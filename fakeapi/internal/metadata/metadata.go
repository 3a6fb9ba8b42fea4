// Package metadata is about what the objects of all kinds have in common: their
// names, owners and finalizers, when two of them are equal, and which are good.
package metadata

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Of returns the object's metadata: of typed objects the ObjectMeta itself.
func Of(obj runtime.Object) metav1.Object {
	if a, ok := obj.(metav1.ObjectMetaAccessor); ok {
		return a.GetObjectMeta()
	}
	return obj.(metav1.Object)
}

// Seconds cuts a time of day as the API's encoding does.
func Seconds(now time.Time) metav1.Time { return metav1.Time{Time: now.UTC().Truncate(time.Second)} }

// Path is where messages find metadata.
var Path = field.NewPath("metadata")
