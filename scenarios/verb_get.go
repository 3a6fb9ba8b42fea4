package scenarios

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios/internal/golden"
	"github.com/threelaws/threelaws/sim"
)

var verbGet = &Verb{
	Name: "get", Args: "KIND | KIND/NAME [path=FIELD]", Min: 1, Max: 1,
	Summary: "print objects",
	Detail: `For a kind, it prints a list of the objects. A single object is printed as YAML, without
its UID, versions and times. path selects one field.`,
	Example: "get pods\nget rs/web-a path=status.replicas",
	Params:  []Param{{Name: "path", Summary: "a field, such as spec.replicas"}},
	check: func(c *checker, s *Step) error {
		path, given := s.Param("path")
		if given && (strings.ContainsAny(path, "[]") || slices.Contains(strings.Split(path, "."), "")) {
			return s.wrong("path=%s: a field is names with a dot between, and no element of a list", path)
		}
		if strings.Contains(s.Word(0), "/") {
			return c.object(s, s.Word(0))
		}
		if given {
			return s.wrong("path picks a field of one object: name one, as %s/NAME", s.Word(0))
		}
		_, err := c.kind(s, s.Word(0))
		return err
	},
	run: func(r *Run, s *Step) error {
		path, _ := s.Param("path")
		if !strings.Contains(s.Word(0), "/") {
			return r.list(s)
		}
		text, err := r.get(s.Word(0), path)
		r.printf("%s", text)
		return err
	},
}

func (r *Run) get(object, path string) (string, error) {
	t, err := r.target(object)
	if err != nil {
		return "", err
	}
	o := r.lookup(t)
	if o == nil {
		return "", &refused{"404 NotFound"}
	}
	tree := clean(toTree(o))
	if path == "" {
		tree["apiVersion"], tree["kind"] = t.kind.GVK.GroupVersion().String(), t.kind.GVK.Kind
		data, err := yaml.Marshal(tree)
		return render.WithoutUIDs(string(data)), err
	}
	v, _, _ := unstructured.NestedFieldNoCopy(tree, strings.Split(path, ".")...)
	if v == nil {
		return golden.None + "\n", nil
	}
	data, err := json.Marshal(v)
	if text, ok := v.(string); ok {
		data = []byte(text)
	}
	return render.WithoutUIDs(string(data)) + "\n", err
}

func (r *Run) list(s *Step) error {
	k, err := kindNamed(r.names(), s, s.Word(0))
	if err != nil {
		return err
	}
	var t render.Table
	r.each(k, func(ref sim.Ref, obj runtime.Object) {
		m := obj.(metav1.Object)
		var notes []string
		if fs := m.GetFinalizers(); len(fs) > 0 {
			notes = append(notes, "finalizers: "+strings.Join(fs, " "))
		}
		if m.GetDeletionTimestamp() != nil {
			notes = append(notes, "being deleted")
		}
		t.Add(ref.String(), orNone(labels.Set(m.GetLabels()).String()), "controller: "+controllerName(m), strings.Join(notes, "; "))
	})
	r.printf("%s", t.String())
	return nil
}

func toTree(o any) map[string]any {
	data, err := json.Marshal(o)
	if err != nil {
		panic("scenarios: an object does not encode: " + err.Error())
	}
	var tree map[string]any
	if err := json.Unmarshal(data, &tree); err != nil {
		panic("scenarios: an object does not decode: " + err.Error())
	}
	return tree
}

// clean removes UIDs, versions and times from an object's metadata.
func clean(tree map[string]any) map[string]any {
	meta, _ := tree["metadata"].(map[string]any)
	for _, key := range []string{
		"uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "selfLink",
	} {
		delete(meta, key)
	}
	if refs, ok := meta["ownerReferences"].([]any); ok {
		for _, ref := range refs {
			if m, ok := ref.(map[string]any); ok {
				delete(m, "uid")
			}
		}
	}
	if _, ok := meta["deletionTimestamp"]; ok {
		meta["deletionTimestamp"] = "(set)"
	}
	return tree
}

var verbOwners = &Verb{
	Name: "owners", Args: "[tree|failed]", Max: 1,
	Summary: "print which objects each controller object controls",
	Detail: `Prints one line for each controller object, with the dependents that have its
ControllerRef. The line none has the objects without a ControllerRef, for the kinds that
the running controllers manage. Pods are printed without their kind. tree prints all owner
references as a tree. failed prints the failed Pods by controller. For a failed Pod without
a controller, it uses the creator in the annotation created-by.`,
	Example: "owners\n----\nrs/web-a  p1 p2",
	check: func(c *checker, s *Step) error {
		switch w := s.Word(0); w {
		case "", "tree", "failed":
			return nil
		default:
			return s.wrong("unknown word %s; did you mean tree or failed?", w)
		}
	},
	run: func(r *Run, s *Step) error {
		switch s.Word(0) {
		case "tree":
			r.printf("%s", r.tree())
		case "failed":
			r.printf("%s", r.failedPods())
		default:
			r.printf("%s", r.owners())
		}
		return nil
	},
}

func (r *Run) owners() string {
	owned := map[string][]string{}
	var owners []string
	row := func(name string) {
		if !slices.Contains(owners, name) {
			owners = append(owners, name)
		}
	}
	fors, deps := r.kinds()
	var orphans []string
	for _, k := range r.t.Server.Kinds() {
		r.each(k, func(ref sim.Ref, obj runtime.Object) {
			if slices.Contains(fors, k) {
				row(ref.String())
			}
			name := dependentName(ref, obj)
			if owner, ok := render.ControllerOf(obj); ok {
				row(owner.String())
				owned[owner.String()] = append(owned[owner.String()], name)
			} else if slices.Contains(deps, k) {
				orphans = append(orphans, name)
			}
		})
	}
	var t render.Table
	if len(orphans) > 0 {
		t.Add("none", strings.Join(orphans, " "))
	}
	for _, o := range owners {
		t.Add(o, orNone(strings.Join(owned[o], " ")))
	}
	return t.String()
}

func (r *Run) tree() string {
	var objs []render.Object
	for _, k := range r.t.Server.Kinds() {
		if k.GVK.Kind == "Namespace" {
			continue
		}
		r.each(k, func(ref sim.Ref, obj runtime.Object) {
			objs = append(objs, render.Object{Ref: ref, Owners: render.Owners(obj), Deleting: render.Deleting(obj)})
		})
	}
	return render.Tree(objs)
}

func (r *Run) kinds() (fors, deps []*fakeapi.Kind) {
	for _, p := range r.t.Cluster.Processes() {
		c := p.Controller()
		if !c.For.Empty() && len(c.Owns) > 0 {
			fors = append(fors, r.t.Server.Kind(c.For))
			for _, gvk := range c.Owns {
				deps = append(deps, r.t.Server.Kind(gvk))
			}
		}
	}
	return fors, deps
}

func dependentName(ref sim.Ref, obj any) string {
	name := ref.String()
	if ref.Kind == "Pod" {
		name = strings.Replace(name, "pod/", "", 1)
	}
	if render.Deleting(obj) {
		name += "(deleting)"
	}
	return name
}

// createdBy is the annotation that named the creator of an object before ControllerRef existed.
const createdBy = "kubernetes.io/created-by"

// failedPods lists the failed Pods by ControllerRef. A Pod without a ControllerRef is listed under the creator in its
// annotation (CREATEDBY-3).
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
