package manifest

import (
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// Definition is the kind of CRDs.
const Definition = "CustomResourceDefinition"

// Defines reports whether the manifest is a CRD.
func (m *Manifest) Defines() bool {
	return m.Kind.GVK.Kind == Definition && m.Kind.GVK.Group == apiextensionsv1.GroupName
}

func isDefinition(n *yaml.Node) bool {
	kind := child(n.Content[0], "kind")
	return kind != nil && kind.Value == Definition
}

// DefineIn applies a CRD to a server outside of any run, so that the rest of the file can be checked. It returns the
// server's refusal; "" on success or if the manifest is not a CRD.
func (m *Manifest) DefineIn(server *fakeapi.Server) string {
	if !m.Defines() {
		return ""
	}
	name := m.Meta().GetName()
	req := m.CreateRequest()
	if server.Lookup(m.Kind, "", name) != nil {
		req = &fakeapi.Request{Verb: fakeapi.Patch, Kind: m.Kind, Name: name,
			PatchType: types.MergePatchType, Patch: m.JSON}
	}
	resp, _ := server.Do(time.Unix(0, 0), req)
	if resp.Err == nil {
		return ""
	}
	st := resp.Err.ErrStatus
	return render.RefusalOf(&sim.Record{Code: int(st.Code), Reason: string(st.Reason), Message: st.Message})
}

// DefinesKind reports whether a CRD in a text defines a kind of this name, as far as the text is readable.
func DefinesKind(body, name string) bool {
	if name == "" {
		return false
	}
	docs := yaml.NewDecoder(strings.NewReader(body))
	for {
		var d struct {
			Kind string
			Spec struct {
				Names struct {
					Kind, Plural, Singular string
					ShortNames             []string `yaml:"shortNames"`
				}
			}
		}
		if err := docs.Decode(&d); err != nil {
			return false
		}
		n := d.Spec.Names
		all := append([]string{n.Kind, n.Plural, n.Singular}, n.ShortNames...)
		if d.Kind == Definition && slices.ContainsFunc(all, func(s string) bool { return strings.EqualFold(s, name) }) {
			return true
		}
	}
}
