// Package api is the kind of the operator: a Site, which wants a number of pods that
// serve a page.
package api

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

// Group is the group and version that Sites are served in.
var Group = schema.GroupVersion{Group: "web.example.com", Version: "v1"}

// SiteSpec is what a Site is to be.
type SiteSpec struct {
	Replicas *int32 `json:"replicas,omitempty"`
	Image    string `json:"image,omitempty"`
	Title    string `json:"title"`
	Domain   string `json:"domain,omitempty"` // once set it stays
	// Preview is a site that goes once it has been ready.
	Preview bool `json:"preview,omitempty"`
}

// SiteStatus is what a Site is.
type SiteStatus struct {
	Ready      int32              `json:"ready"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Site is an object of the kind.
type Site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   SiteSpec   `json:"spec,omitempty"`
	Status SiteStatus `json:"status,omitempty"`
}

// SiteList is a list of them.
type SiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Site `json:"items"`
}

// builder registers the kind as kubebuilder's scaffold does: DeleteOptions in its group included,
// so that clients send them as of that group.
var builder = (&scheme.Builder{GroupVersion: Group}).Register(&Site{}, &SiteList{})

// AddToScheme adds the kind to a scheme.
var AddToScheme = builder.AddToScheme

// DeepCopyObject copies a Site.
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

// DeepCopyObject copies a list of them.
func (l *SiteList) DeepCopyObject() runtime.Object {
	c := *l
	l.ListMeta.DeepCopyInto(&c.ListMeta)
	c.Items = nil
	for i := range l.Items {
		c.Items = append(c.Items, *l.Items[i].DeepCopyObject().(*Site))
	}
	return &c
}
