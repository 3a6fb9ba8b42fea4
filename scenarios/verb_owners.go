package scenarios

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

var verbOwners = &Verb{
	Name: "owners", Args: "[tree|failed]", Max: 1,
	Summary: "print who controls what",
	Detail: `One line for each controller object, with what its ControllerRef is on; none
stands for objects without one, of the kinds the running controllers manage.
Pods are named without their kind. With tree, all owner references as a tree. With
failed, the Pods that have failed, by their controller; one without a ControllerRef
by who is named as its creator in the annotation created-by.`,
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

// owners lists the dependents of each controller object.
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

// tree formats all owner references of the world as a tree.
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

// kinds lists the kinds that the running controllers reconcile and manage.
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
