// Package widget is a typical operator on controller-runtime. For each Widget, it keeps a number of ConfigMaps, adopts
// ConfigMaps with the Widget's label, and copies a Secret's text into the ConfigMaps. It has a finalizer, a status, a
// field index and a mapping function. Each guard against wrong writes can be left out ([Without]).
package widget

import (
	_ "embed"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// Definition is Widget's CustomResourceDefinition.
//
//go:embed crd.yaml
var Definition string

var GroupVersion = schema.GroupVersion{Group: "example.com", Version: "v1"}

type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   Spec   `json:"spec,omitempty"`
	Status Status `json:"status,omitempty"`
}

type Spec struct {
	Replicas int32  `json:"replicas"`
	Source   string `json:"source,omitempty"` // the Secret whose text is copied into the ConfigMaps
}

type Status struct {
	Ready int32 `json:"ready"`
}

func (w *Widget) DeepCopyObject() runtime.Object {
	c := *w
	w.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	return &c
}

type List struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Widget `json:"items"`
}

func (l *List) DeepCopyObject() runtime.Object {
	c := *l
	l.ListMeta.DeepCopyInto(&c.ListMeta)
	c.Items = make([]Widget, len(l.Items))
	for i := range l.Items {
		c.Items[i] = *l.Items[i].DeepCopyObject().(*Widget)
	}
	return &c
}

// Scheme returns a scheme with the built-in kinds and Widget.
func Scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(s); err != nil {
		panic(err)
	}
	s.AddKnownTypeWithName(GroupVersion.WithKind("Widget"), &Widget{})
	s.AddKnownTypeWithName(GroupVersion.WithKind("WidgetList"), &List{})
	s.AddKnownTypes(GroupVersion, &metav1.ListOptions{}, &metav1.GetOptions{}, &metav1.CreateOptions{},
		&metav1.UpdateOptions{}, &metav1.PatchOptions{})
	return s
}
