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

// createdBy is the annotation in which controllers said before ControllerRef for whom
// they had made an object.
const createdBy = "kubernetes.io/created-by"

// failedPods renders the Pods that have failed, grouped by whose they are: by ControllerRef,
// or where there is none by who is named as their creator (CREATEDBY-3).
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

// controllerOrCreator names an object's controller, or who made it, or "none".
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
