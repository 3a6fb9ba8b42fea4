package acquitted_test

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// App is the custom resource of the operators, as an author writes its Go type.
type App struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              AppSpec   `json:"spec,omitempty"`
	Status            AppStatus `json:"status,omitempty"`
}

// AppSpec is the state that the user wants.
type AppSpec struct {
	Replicas int64  `json:"replicas,omitempty"`
	Image    string `json:"image,omitempty"`
	Secret   string `json:"secret,omitempty"`
}

// AppStatus is the state that the operator reports.
type AppStatus struct {
	Replicas           int64              `json:"replicas,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Phase              string             `json:"phase,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

var appKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "App"}

// definition is the CRD that controller-gen generates from the type.
const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: apps.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: App, plural: apps, singular: app}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: {replicas: {type: integer, minimum: 0}, image: {type: string}, secret: {type: string}}
          status:
            type: object
            properties:
              replicas: {type: integer}
              observedGeneration: {type: integer}
              phase: {type: string}
              conditions:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [type]
                items:
                  type: object
                  required: [type, status, reason, message, lastTransitionTime]
                  properties:
                    type: {type: string}
                    status: {type: string}
                    reason: {type: string}
                    message: {type: string}
                    observedGeneration: {type: integer}
                    lastTransitionTime: {type: string, format: date-time}
`

// appOf decodes an App into a copy.
func appOf(obj runtime.Object) *App {
	a := &App{}
	fields := obj.(*unstructured.Unstructured).Object
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, a); err != nil {
		panic(err)
	}
	return a
}

// object encodes it.
func (a *App) object() *unstructured.Unstructured {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(a)
	if err != nil {
		panic(err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(appKind)
	return u
}

// replicas returns the number that an App wants, for the laws.
func replicas(obj runtime.Object) int {
	n, _, _ := unstructured.NestedInt64(obj.(*unstructured.Unstructured).Object, "spec", "replicas")
	return int(n)
}
