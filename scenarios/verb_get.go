package scenarios

import (
	"encoding/json"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

var verbGet = &Verb{
	Name: "get", Args: "KIND | KIND/NAME [path=FIELD]", Min: 1, Max: 1,
	Summary: "print objects",
	Detail: `A kind lists its objects: name, labels, controller, finalizers, deletion. An
object prints as YAML without what differs between servers (uid, versions,
times); path picks one field of it.`,
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
		text, err := r.get(s.Word(0), path)
		r.printf("%s", text)
		return err
	},
}

// get formats the objects of a kind, one object, or one field of it.
func (r *Run) get(what, path string) (string, error) {
	if !strings.Contains(what, "/") {
		return r.list(what)
	}
	t, err := r.target(what)
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
		return None + "\n", nil
	}
	data, err := json.Marshal(v)
	if text, ok := v.(string); ok {
		data = []byte(text)
	}
	return render.WithoutUIDs(string(data)) + "\n", err
}

func (r *Run) list(kind string) (string, error) {
	k := r.names().kindNamed(kind)
	if k == nil {
		return "", r.errorf("unknown kind %s", kind)
	}
	var t render.Table
	r.each(k, func(ref sim.Ref, obj runtime.Object) {
		m := obj.(metav1.Object)
		owner := "controller: none"
		if c, ok := render.ControllerOf(obj); ok {
			owner = "controller: " + c.String()
		}
		var notes []string
		if fs := m.GetFinalizers(); len(fs) > 0 {
			notes = append(notes, "finalizers: "+strings.Join(fs, " "))
		}
		if m.GetDeletionTimestamp() != nil {
			notes = append(notes, "being deleted")
		}
		t.Add(ref.String(), orNone(labels.Set(m.GetLabels()).String()), owner, strings.Join(notes, "; "))
	})
	return t.String(), nil
}

// toTree turns an object into maps, as in JSON.
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

// clean removes uids, versions and times, which tell a reader nothing.
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
