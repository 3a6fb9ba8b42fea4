package scenarios_test

import (
	"strings"
	"testing"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios/internal/manifest"
)

const pods = `# the first
apiVersion: v1
kind: Pod
metadata: {name: p1, annotations: {owner: $(uid rs/web)}}
spec: {containers: [{name: c, image: i}]}
--- # nothing but a comment
# in between
---
apiVersion: v1
kind: Pod
metadata: {name: p2, namespace: other}
spec: {containers: [{name: c, image: i}]}
`

func text(body string) manifest.Text {
	nobody := func(string) string { return "" }
	return manifest.Text{File: "f.txtar", Line: 10, Name: "w.yaml", Body: body, DefinedBy: nobody}
}

// Decode returns the line and the source text of each manifest.
func TestDecode(t *testing.T) {
	all, err := manifest.Decode(text(pods), fakeapi.New(fakeapi.Options{}))
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	a, b := all[0], all[1]
	if a.Line != 12 || b.Line != 19 {
		t.Errorf("lines %d and %d", a.Line, b.Line)
	}
	if !strings.HasPrefix(a.Text, "# the first\napiVersion") || strings.Contains(a.Text+b.Text, "---") {
		t.Errorf("texts\n%s\n%s", a.Text, b.Text)
	}
	if a.Meta().GetNamespace() != "default" || b.Ref().String() != "other/pod/p2" {
		t.Errorf("%s and %s", a.Ref(), b.Ref())
	}
	own, err := a.WithUIDs(func(_, object string) (string, error) { return "uid of " + object, nil })
	if err != nil || own.Meta().GetAnnotations()["owner"] != "uid of rs/web" {
		t.Error(own, err)
	}
	if a.Meta().GetAnnotations()["owner"] != "$(uid rs/web)" {
		t.Error("the manifest that all runs share has changed")
	}
	if same, _ := b.WithUIDs(nil); same != b {
		t.Error("a manifest without uids was copied")
	}
}

func TestDefinesKind(t *testing.T) {
	body := "kind: Other\n---\n" +
		"kind: CustomResourceDefinition\nspec: {names: {kind: Widget, plural: widgets, shortNames: [wd]}}\n"
	for name, want := range map[string]bool{"widget": true, "WD": true, "other": false, "": false} {
		if got := manifest.DefinesKind(body, name); got != want {
			t.Errorf("DefinesKind(%q) = %v", name, got)
		}
	}
}
