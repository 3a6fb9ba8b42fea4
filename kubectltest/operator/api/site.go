// Package api contains the operator's kind Site. A Site wants a number of pods that serve a page.
package api

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

var Group = schema.GroupVersion{Group: "web.example.com", Version: "v1"}

type SiteSpec struct {
	Replicas *int32 `json:"replicas,omitempty"`
	Image    string `json:"image,omitempty"`
	Title    string `json:"title"`
	Domain   string `json:"domain,omitempty"` // cannot change once set
	// Preview deletes the site once it has been ready.
	Preview bool `json:"preview,omitempty"`
}

type SiteStatus struct {
	Ready      int32              `json:"ready"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

type Site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   SiteSpec   `json:"spec,omitempty"`
	Status SiteStatus `json:"status,omitempty"`
}

type SiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Site `json:"items"`
}

// builder registers the kind like kubebuilder's scaffold. The scaffold also registers DeleteOptions in the kind's
// group, and so clients send DeleteOptions with that group.
var builder = (&scheme.Builder{GroupVersion: Group}).Register(&Site{}, &SiteList{})

var AddToScheme = builder.AddToScheme

func (s *Site) DeepCopyObject() runtime.Object {
	c := *s
	s.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	if s.Spec.Replicas != nil {
		n := *s.Spec.Replicas
		c.Spec.Replicas = &n
	}
	c.Status.Conditions = nil
	for i := range s.Status.Conditions {
		c.Status.Conditions = append(c.Status.Conditions, *s.Status.Conditions[i].DeepCopy())
	}
	return &c
}

func (l *SiteList) DeepCopyObject() runtime.Object {
	c := *l
	l.ListMeta.DeepCopyInto(&c.ListMeta)
	c.Items = nil
	for i := range l.Items {
		c.Items = append(c.Items, *l.Items[i].DeepCopyObject().(*Site))
	}
	return &c
}
