package scenarios

import (
	"encoding/json"
	"errors"
	"regexp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim"
)

// uidOf is where a manifest or a patch has the uid of an object:
// "$(uid rs/web)".
var uidOf = regexp.MustCompile(`\$\(uid ([^()\s"]*)\)`)

// checkUIDs checks the objects whose uids a text has; it returns what is wrong.
func checkUIDs(in servers, s *Step, text []byte) error {
	for _, m := range uidOf.FindAllSubmatch(text, -1) {
		if _, err := parseTarget(in, s, string(m[1])); err != nil {
			return uidError(s, string(m[0]), err)
		}
	}
	return nil
}

// uidError is a mistake within $(uid ...).
func uidError(s *Step, expr string, err error) error {
	if e := (*Error)(nil); errors.As(err, &e) {
		return s.wrong("%s: %s", expr, e.Text)
	}
	return err
}

// withUIDs puts in the uids that objects have now.
func (r *Run) withUIDs(text []byte) ([]byte, error) {
	var first error
	out := uidOf.ReplaceAllFunc(text, func(expr []byte) []byte {
		object := string(uidOf.FindSubmatch(expr)[1])
		t, err := r.target(object)
		if err != nil {
			err = uidError(r.at(), string(expr), err)
		} else if o := r.lookup(t); o != nil {
			return []byte(o.GetUID())
		} else {
			err = r.errorf("%s: there is no %s%s", expr, object, suggest(object, r.named(t)))
		}
		if first == nil {
			first = err
		}
		return expr
	})
	return out, first
}

// named lists the objects of a target's kind and namespace as steps name them.
func (r *Run) named(t target) []string {
	var names []string
	k := r.t.Server.Kind(t.kind.GVK)
	if k == nil {
		return nil
	}
	r.t.Server.EachIn(k, t.namespace, func(obj runtime.Object) bool {
		names = append(names, sim.Ref{Kind: k.GVK.Kind, Namespace: t.namespace, Name: obj.(metav1.Object).GetName()}.String())
		return true
	})
	return names
}

// resolved is the manifest with the uids that objects have now.
func (r *Run) resolved(m *Manifest) (*Manifest, error) {
	if !m.uids {
		return m, nil
	}
	data, err := r.withUIDs(m.JSON)
	if err != nil {
		return nil, err
	}
	own := *m
	own.JSON, own.Object = data, m.Kind.New()
	if err := json.Unmarshal(data, own.Object); err != nil {
		panic("scenarios: a manifest does not decode with uids in it: " + err.Error())
	}
	own.setNamespace()
	return &own, nil
}

// setNamespace puts an object without a namespace into "default".
func (m *Manifest) setNamespace() {
	if o := m.Object.(metav1.Object); o.GetNamespace() == "" && m.Kind.Namespaced {
		o.SetNamespace("default")
	}
}
