package httpapi

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/discovery"
)

var update = flag.Bool("update", false, "rewrite what docs/evidence/fidelity.md holds of the server's own")

const fidelity = "../../docs/evidence/fidelity.md"

// documentPart writes a part of docs/evidence/fidelity.md with -update. The part stands between two
// comments with its name.
func documentPart(t *testing.T, name, part string) {
	t.Helper()
	if !*update {
		return
	}
	raw, err := os.ReadFile(fidelity)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->\n"
	before, rest, ok := strings.Cut(string(raw), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no part %s", fidelity, name)
	}
	if err := os.WriteFile(fidelity, []byte(before+begin+part+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// With -update the tables of kinds in docs/evidence/fidelity.md are written from the table of kinds.
func TestDocumentedKinds(t *testing.T) {
	if !*update {
		t.Skip("it only writes tables: -update")
	}
	h := newHandler()
	var kinds []*fakeapi.Kind
	h.With(func(s *fakeapi.Server) { kinds = s.Served() })
	modelled := map[string]*fakeapi.Kind{}
	for _, k := range kinds {
		modelled[k.GVR().String()] = k
	}
	var served, inert, refused strings.Builder
	served.WriteString("| apiVersion | kinds, with their subresources |\n| --- | --- |\n")
	inert.WriteString("| kinds that are only stored | what they do not do here |\n| --- | --- |\n")
	var whys []string
	stored := map[string][]string{}
	refused.WriteString("| apiVersion | refused |\n| --- | --- |\n")
	for _, v := range discovery.Served(nil) {
		var yes, no []string
		for _, r := range v.Resources {
			k := modelled[v.WithResource(r.Name).String()]
			if k == nil {
				for _, s := range r.Sub {
					no = append(no, r.Name+"/"+s.Name)
				}
				continue
			}
			why := k.Inert()
			if why != "" && !slices.Contains(stored[why], k.GVK.Kind) {
				if stored[why] == nil {
					whys = append(whys, why)
				}
				stored[why] = append(stored[why], k.GVK.Kind)
			}
			name := r.Kind.Kind
			var subs []string
			for _, s := range r.Sub {
				if k.Serves(s.Name) || reviews[schema.GroupResource{Resource: r.Name + "/" + s.Name}] != nil {
					subs = append(subs, s.Name)
				} else {
					no = append(no, r.Name+"/"+s.Name)
				}
			}
			if len(subs) > 0 {
				name += " (" + strings.Join(subs, ", ") + ")"
			}
			yes = append(yes, name)
		}
		if len(yes) > 0 {
			fmt.Fprintf(&served, "| %s | %s |\n", v.GroupVersion, strings.Join(yes, ", "))
		}
		if len(no) > 0 {
			fmt.Fprintf(&refused, "| %s | %s |\n", v.GroupVersion, strings.Join(no, ", "))
		}
	}
	for _, why := range whys {
		fmt.Fprintf(&inert, "| %s | %s |\n", strings.Join(stored[why], ", "), why)
	}
	documentPart(t, "kinds", served.String())
	documentPart(t, "stored", inert.String())
	documentPart(t, "refused", refused.String())
}
