package httpapi

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/yamldoc"
)

// LoadError is the error about one document of a YAML file.
type LoadError struct {
	Line int // the first line of the document, from 1
	Err  error
}

// Error returns the line and the error.
func (e *LoadError) Error() string { return fmt.Sprintf("%d: %v", e.Line, e.Err) }

// Load stores the objects of a YAML file, in order. An object with a uid, for example from a dump, is stored unchanged.
// Without a uid, it is created. A namespace that exists is skipped. A CRD must come before its objects.
func (h *Handler) Load(text []byte) error {
	docs := yamldoc.Split(text)
	for len(docs) > 0 {
		n, err := h.loadSome(docs)
		if err != nil {
			return err
		}
		docs = docs[n:]
	}
	return nil
}

// loadSome loads one document without a uid, or all documents up to the next one without a uid. It returns the number
// of loaded documents. It also stops before a document of an unknown kind, because a CRD before it may define the kind.
func (h *Handler) loadSome(docs []yamldoc.Document) (n int, err error) {
	var stored []runtime.Object
	line := docs[0].Line
	for n < len(docs) {
		d := &docs[n]
		obj, err := h.decodeDocument(d.Text)
		if err != nil && len(stored) > 0 {
			break // the kind may be defined by a CRD in stored
		}
		if err != nil {
			return n, &LoadError{d.Line, err}
		}
		if obj != nil && obj.(metav1.Object).GetUID() == "" {
			if len(stored) > 0 {
				break
			}
			if err := h.create(obj); err != nil {
				return n, &LoadError{d.Line, err}
			}
			return n + 1, nil
		}
		if n++; obj != nil {
			stored = append(stored, obj)
		}
	}
	if len(stored) > 0 {
		h.With(func(s *fakeapi.Server) { err = s.Restore(stored) })
	}
	if err != nil {
		return n, &LoadError{line, err}
	}
	return n, nil
}

func (h *Handler) create(obj runtime.Object) error {
	var k *fakeapi.Kind
	h.With(func(s *fakeapi.Server) { k = s.KindOf(obj) })
	m := obj.(metav1.Object)
	if k.Namespaced && m.GetNamespace() == "" {
		m.SetNamespace(metav1.NamespaceDefault)
	}
	resp := h.do(&fakeapi.Request{
		Verb: fakeapi.Create, Kind: k, Namespace: m.GetNamespace(), Object: obj, UserAgent: "load",
	})
	switch {
	case resp.Err == nil:
		return nil
	case k.Resource == "namespaces" && resp.Err.ErrStatus.Reason == metav1.StatusReasonAlreadyExists:
		return nil
	}
	return fmt.Errorf("%s %s: %w", k.GVK.Kind, m.GetName(), resp.Err)
}

func (h *Handler) decodeDocument(text []byte) (runtime.Object, error) {
	var named metav1.TypeMeta
	if err := yaml.Unmarshal(text, &named); err != nil {
		return nil, err
	}
	if named == (metav1.TypeMeta{}) {
		var any map[string]any
		if err := yaml.Unmarshal(text, &any); err != nil || len(any) == 0 {
			return nil, err
		}
	}
	var k *fakeapi.Kind
	h.With(func(s *fakeapi.Server) { k = s.Kind(named.GroupVersionKind()) })
	if k == nil {
		return nil, fmt.Errorf("the kind %q of apiVersion %q is not served", named.Kind, named.APIVersion)
	}
	obj := k.New()
	if err := yaml.UnmarshalStrict(text, obj); err != nil {
		return nil, err
	}
	return obj, nil
}

// Dump writes every stored object as YAML for [Handler.Load]. It returns an error if a conversion webhook would have to
// convert an object to a served version.
func (h *Handler) Dump(to io.Writer) (err error) {
	w := bufio.NewWriter(to)
	written := map[types.UID]bool{} // uids of written objects
	h.With(func(s *fakeapi.Server) {
		for _, k := range s.Kinds() {
			if d, _ := k.Definition(); k.Stored() != k && d.Spec.Conversion != nil &&
				d.Spec.Conversion.Strategy == "Webhook" && s.Len(k) > 0 && err == nil {
				err = fmt.Errorf("%s: the version that is stored is not served, and a webhook would have to be "+
					"called to read what there is: serve it to dump", d.Name)
			}
			s.Each(k, func(obj runtime.Object) bool {
				uid := obj.(metav1.Object).GetUID()
				if written[uid] {
					return true
				}
				written[uid] = true
				var raw, text []byte
				if raw, err = json.Marshal(obj); err == nil {
					text, err = yaml.JSONToYAML(raw)
				}
				if err == nil {
					_, err = fmt.Fprintf(w, "---\n%s", text)
				}
				return err == nil
			})
		}
	})
	if err != nil {
		return err
	}
	return w.Flush()
}
