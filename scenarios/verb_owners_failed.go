package scenarios

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// createdBy is the annotation with the creator of an object, used before ControllerRef.
const createdBy = "kubernetes.io/created-by"

// failedPods lists the failed Pods grouped by ControllerRef, or else by their named creator (CREATEDBY-3).
func (r *Run) failedPods() string {
	groups := map[string][]string{}
	for _, k := range r.t.Server.Kinds() {
		if k.GVK.Group != "" || k.GVK.Kind != "Pod" {
			continue
		}
		r.each(k, func(ref sim.Ref, obj runtime.Object) {
			if phase, _, _ := unstructured.NestedString(toTree(obj), "status", "phase"); phase == "Failed" {
				whose := controllerOrCreator(obj)
				groups[whose] = append(groups[whose], dependentName(ref, obj))
			}
		})
	}
	var t render.Table
	for _, whose := range slices.Sorted(maps.Keys(groups)) {
		t.Add(whose, strings.Join(groups[whose], " "))
	}
	return t.String()
}

// controllerOrCreator returns an object's controller, its creator, or "none".
func controllerOrCreator(obj runtime.Object) string {
	if owner, ok := render.ControllerOf(obj); ok {
		return owner.String()
	}
	var made struct {
		Reference struct{ Kind, Name string }
	}
	text := obj.(metav1.Object).GetAnnotations()[createdBy]
	if err := json.Unmarshal([]byte(text), &made); err != nil || made.Reference.Name == "" {
		return "none"
	}
	return sim.Ref{Kind: made.Reference.Kind, Name: made.Reference.Name}.String() + " (created-by)"
}
